"""Transformations that work on one line at a time."""

import pytest

from unit.core.filters.rules import reasons, run, trace


@pytest.mark.parametrize(
    ("line", "trimmed"),
    [
        ("  a.com", "a.com"),
        ("a.com\t ", "a.com"),
        ("\t \t", ""),
        ("a  b", "a  b"),
        ("\xa0a\xa0", "\xa0a\xa0"),
        ("a\v", "a\v"),
    ],
)
def test_trim_lines(line, trimmed):
    """Only spaces and tabs are trimmed."""
    assert run("TrimLines", line) == [trimmed]


@pytest.mark.parametrize("line", ["!", "! a", "!a", "#", "# a", "#### a", "#####"])
def test_remove_comments(line):
    """A comment is dropped, and the trace has the reason."""
    assert run("RemoveComments", "a.com", line) == ["a.com"]
    assert reasons("RemoveComments", line) == {line: "comment"}


@pytest.mark.parametrize("line", ["#a", "##.ad", "###ad", " ! a", "\t# a", "#\ta", "a.com # b", "#@#.ad"])
def test_remove_comments_keeps(line):
    """Selectors, indented lines and comments after a rule are kept."""
    assert run("RemoveComments", line) == [line]


@pytest.mark.parametrize("line", ["", " ", "\t\v", "\xa0", "\u3000", "\ufeff", "\u2028"])
def test_remove_empty_lines(line):
    """A line of any white space of JavaScript is dropped."""
    assert run("RemoveEmptyLines", line, " a ") == [" a "]
    assert reasons("RemoveEmptyLines", line) == {line: "empty line"}


@pytest.mark.parametrize("line", ["\u200b", "\x1c", "\x85", "\0"])
def test_remove_empty_lines_keeps(line):
    """Characters that are white space only in Python are kept."""
    assert run("RemoveEmptyLines", line) == [line]


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        ([], [""]),
        (["a"], ["a", ""]),
        (["a", ""], ["a", ""]),
        (["a", " \t"], ["a", " \t"]),
        (["a", "", ""], ["a", "", ""]),
    ],
)
def test_insert_final_new_line(lines, result):
    """An empty line is added unless the last line is blank already."""
    assert run("InsertFinalNewLine", *lines) == result


def test_the_added_line_has_no_origin():
    """The line that InsertFinalNewLine adds has no origin."""
    assert trace("InsertFinalNewLine", "a").origins == [0, -1]


@pytest.mark.parametrize(
    ("line", "inverted"),
    [
        ("||a.com^", "@@||a.com^"),
        ("@@||a.com^", "@@||a.com^"),
        ("a.com", "@@a.com"),
        ("", ""),
        (" ", "@@ "),
        (" ||a.com^", "@@ ||a.com^"),
        ("/re/", "@@/re/"),
        ("##.ad", "@@##.ad"),
        ("! a", "! a"),
        ("# a", "# a"),
        ("0.0.0.0 a.com", "0.0.0.0 a.com"),
        ("bad rule", "bad rule"),
    ],
)
def test_invert_allow(line, inverted):
    """All lines become exceptions, except comments, hosts rules, exceptions and empty lines."""
    assert run("InvertAllow", line) == [inverted]
