"""Exclusions and inclusions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.literals import Literals
from sluice.core.filters.patterns.patterns import Patterns

LINES = ["||ads.example.com^", "||EXAMPLE.org^", "! note", "", "a*b", "пример.рф"]


def select_matching(*patterns: str) -> list[str]:
    marks = Patterns.parse(patterns).match(LINES)
    return [line for line, mark in zip(LINES, marks, strict=True) if mark]


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("example", ["||ads.example.com^"]),
        ("ads.example.com^", ["||ads.example.com^"]),
        ("Example", []),
        ("*example*", ["||ads.example.com^", "||EXAMPLE.org^"]),
        ("||example.*", ["||EXAMPLE.org^"]),
        ("*", LINES),
        ("**", LINES),
        ("a*b", ["a*b"]),
        ("a*a*b", []),
        ("ПРИМЕР.*", ["пример.рф"]),
        ("/^\\|\\|/", ["||ads.example.com^", "||EXAMPLE.org^"]),
        ("/example\\.ORG/", ["||EXAMPLE.org^"]),
        ("/^$/", [""]),
        ("//", []),
        ("/x/i", []),
        (" note", ["! note"]),
    ],
)
def test_kinds(pattern, lines):
    """Substrings match with case, wildcards and regular expressions without; wildcards match the whole line."""
    assert select_matching(pattern) == lines


def test_nothing_to_match():
    """Empty patterns are ignored, and an empty set filters nothing."""
    assert not Patterns.parse([])
    assert not Patterns.parse(["", ""])


def test_find_names_the_pattern():
    """`find` returns the matching pattern in its original text."""
    patterns = Patterns.parse(["note", "*EXAMPLE.org*", "/^a/"])
    assert [patterns.find(line) for line in LINES] == [None, "*EXAMPLE.org*", "note", None, "/^a/", None]


def test_bad_expressions_are_named():
    """The error names every bad regular expression, not only the first."""
    with pytest.raises(Invalid, match=re.escape("/(a/")) as raised:
        Patterns.parse(["/(a/", "ok", "/[/", "/b/"])
    assert [field.field for field in raised.value.fields] == ["/(a/", "/[/"]


words = st.text(alphabet="ab.c", min_size=1, max_size=18)


@given(st.lists(words, min_size=21, max_size=60, unique=True), st.text(alphabet="ab.c", max_size=60))
def test_many_literals_are_found_like_one(literals, line):
    """The index finds the same literals as a search for each one."""
    index = Literals(literals)
    expected = {literal for literal in literals if literal in line}
    assert set(index.find_matches(line)) == expected
    assert index.has_match(line) is bool(expected)


def test_literals_that_share_all_but_their_end():
    """Thousands of literals with a common prefix are distinguished."""
    index = Literals([f"||example.com/{number}^" for number in range(3000)])
    assert list(index.find_matches("||example.com/2999^")) == ["||example.com/2999^"]
    assert not index.has_match("||example.com/3000^")


@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab", max_size=12))
def test_wildcards_match_like_an_expression(pattern, line):
    """A wildcard means the expression with `.*` for each asterisk."""
    if "*" not in pattern:
        pattern = f"{pattern}*"
    expected = re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line, re.IGNORECASE) is not None
    assert Patterns.parse([pattern]).match([line]) == bytes([expected])
