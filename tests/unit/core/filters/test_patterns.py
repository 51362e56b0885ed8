"""Exclusions and inclusions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.patterns.work import WorkBudget

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
        ("a?*b", ["a*b"]),
        ("*?xample.?rg*", ["||EXAMPLE.org^"]),
        ("a???*b", []),
        ("a?b", []),
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
    assert patterns.find(LINES) == {1: "*EXAMPLE.org*", 2: "note", 4: "/^a/"}


def test_bad_expressions_are_named():
    """The error names every bad regular expression, not only the first."""
    with pytest.raises(Invalid, match=re.escape("/(a/")) as raised:
        Patterns.parse(["/(a/", "ok", "/[/", "/b/"])
    assert [field.field for field in raised.value.fields] == ["/(a/", "/[/"]


words = st.text(alphabet="ab.cж", min_size=1, max_size=18)
some_lines = st.lists(st.text(alphabet="ab.cж", max_size=60), max_size=5)


@given(st.lists(words, min_size=1, max_size=60, unique=True), some_lines)
def test_many_literals_are_found_like_one(literals, lines):
    """All literals are found in one pass, in the same lines as by a search for each one."""
    expected = bytes(any(literal in line for literal in literals) for line in lines)
    assert Patterns.parse(literals).match(lines) == expected


def test_literals_that_share_all_but_their_end():
    """Thousands of literals with a common prefix are distinguished."""
    patterns = Patterns.parse([f"||example.com/{number}^" for number in range(3000)])
    assert patterns.match(["||example.com/2999^", "||example.com/3000^"]) == b"\x01\x00"


@pytest.mark.parametrize("pattern", ["a\nb", "/a.b/", "a", "*c"])
def test_lines_that_contain_a_line_feed(pattern):
    """A line that contains a line feed is one line, and no match reaches from one line into the next."""
    expected = {"a\nb": [1, 0, 0, 0], "/a.b/": [0, 0, 0, 0], "a": [1, 1, 0, 1], "*c": [0, 0, 1, 0]}[pattern]
    assert list(Patterns.parse([pattern]).match(["a\nb", "a", "bc", "xa"])) == expected


def test_letters_that_are_equal_without_case():
    """An expression that ignores case also finds letters outside of ASCII, although lines are searched for `kiosk` first."""
    assert Patterns.parse(["/kiosk/"]).match(["KIOSK", "\u212aio\u017fk", "kios"]) == b"\x01\x01\x00"


def test_the_total_work_is_limited():
    """Patterns that would occupy a processor for long are refused with the limit; a hundred on 2,000 lines are not."""
    lines = [f"||e{number}.example{number}.com^" for number in range(2_000)]
    expressions = [f"/^[|]{{1,{number}}}[a-z]+[0-9].*[|]$/" for number in range(2, 1_000)]
    assert sum(Patterns.parse(expressions[:100]).match(lines)) == 0
    addresses = [f"/[0-9]{{1,3}}(\\.[0-9]{{1,3}}){{3}}:{number}$/" for number in range(100)]
    assert sum(Patterns.parse(addresses).match(lines)) == 0
    with pytest.raises(Invalid, match=r"more than 0\.5 billion steps"):
        Patterns.parse(expressions, WorkBudget(5e8)).match(lines)


@given(st.text(alphabet="ab*?", max_size=8), st.text(alphabet="ab", max_size=12))
def test_wildcards_match_like_an_expression(pattern, line):
    """A wildcard means the expression with `.*` for each asterisk and `.` for each question mark."""
    if "*" not in pattern:
        pattern = f"{pattern}*"
    expected = re.fullmatch(pattern.replace("?", ".").replace("*", ".*"), line) is not None
    assert Patterns.parse([pattern]).match([line]) == bytes([expected])
