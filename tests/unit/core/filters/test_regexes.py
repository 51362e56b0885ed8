"""JavaScript regular expressions: translated, optimised, and refused if they could take too long."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.regexes import Regex
from steps import GROWTH, check_linear


@pytest.mark.parametrize(
    ("source", "line", "matches"),
    [
        (r"^\|\|.*\.example\.(com|org)\^$", "||ads.Example.org^", True),
        (r"ads?[0-9]+\.", "||ad7.com^", True),
        (r"(foo|bar){1,3}$", "foobarfoo", True),
        (r"^(?:\w+\.)*example\.com$", "a.b.example.com", True),
        (r"^(?:\w+\.)*example\.com$", "a.b-example.com", False),
        (r"[\w-.]x$", "~x", False),
        (r"^.{3}$", "abcd", False),
        (r"\/ads\/", "/ads/", True),
        (r"(?<word>a.)\k<word>", "xabab", True),
        (r"^\d+$", "٣", False),
        (r"^\w+$", "é", False),
        (r"\bad\b", "éad", True),
        (r"^\s$", "\ufeff", True),
        (r"^\S$", "\x85", True),
        (r"^[\d\s]+$", "1 2", True),
        (r"^[^]$", "x", True),
        (r"[]", "x", False),
        (r"^x{,2}$", "x{,2}", True),
        (r"^\a\z\_$", "az_", True),
        (r"^\cA[\b]\x41\u0042$", "\x01\x08AB", True),
        (r"^[[]$", "[", True),
        (r"^(?!.*good).*ads", "bad ads", True),
        (r"^(?!.*good).*ads", "ads good", False),
        (r"реклама", "РЕКЛАМА", True),
        (r"a.+b.+c", "a1b2c", True),
        (r"a.+b.+c", "ab2c", False),
        (r"[a-z]{2,}\.$", "ab.", True),
        ("", "x", True),
    ],
)
def test_meaning(source, line, matches):
    """A translated expression matches the same lines as in JavaScript."""
    assert Regex(source).matches(line) is matches


@pytest.mark.parametrize("source", ["(a", "[", "a**", "a++", "(?>a)", "(?P<n>a)", "(?#x)", r"\1", "(?<=a+)b", "a{3}+"])
def test_no_expression(source):
    """An expression that is invalid in JavaScript, or unsupported in Python, is refused."""
    with pytest.raises(Invalid, match=re.escape(f"/{source}/")):
        Regex(source)


@pytest.mark.parametrize(
    "source",
    [
        "(a+)+$", "(a*)*b", "(a|ab|b)+c", r"(\w+\s?)+$", r"(.*\.)+x", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(a{1,30}){1,30}b", "(a?){30}a{30}", "(a|aa){40}$", "x*x*x*x*x*y", "a?" * 25 + "a" * 25, "(?=(a+)+$)b", "a" * 5000,
        "((a|b)*|a)*c", "^(a|a)*$", "(ax|ax)*y", "(?:ka|\u212aa)*$", "(?:[A-Z]1|[a-z]1)*$", "(?:[k]+\u212a)*x",
        r"^(a+)\1+$", "(?:(?=a)a|a)*$", "(?:){99999}", "(?:(?=a)){9}", "(" * 40 + "a" + ")" * 40, "[\u0001-\uffff]" * 20,
    ],
)  # fmt: skip
def test_refused(source):
    """Expressions that could backtrack for long are refused before they are used."""
    with pytest.raises(Invalid, match="cannot be used"):
        Regex(source)


# Of a very long line only the beginning is searched, which is why no other expression below is found in one.
FOUND = {"[0-9a-f]{32}": ("a", "1a"), "([0-9a-f]{2}){6}": ("a", "1a"), "(com|co){1,3}$": ("comco",)}


@pytest.mark.parametrize(
    "source",
    [
        r"(?:[a-z0-9-]+\.)+com", ".*a.*b.*c.*d.*e.*f", r"^(.+\.)?ads\..*$", "[0-9a-f]{32}", "([0-9a-f]{2}){6}",
        r"(\d{1,3}\.){3}\d{1,3}", "(com|co){1,3}$", "[яж]+", r"(?:^|[^a-z])ads?(?:[^a-z]|$)", r"^\|\|[a-z0-9-]+\.[a-z]{2,}\^$",
        r"\s+$", r"(?:[a-z0-9-]+\.)*[a-z0-9-]+\.(?:com|net)$", "^.*,.*,.*,.*,.*,z$", r"(?:^\|\|?|^)(10\.?[\d\.*]+)\|{0,1}$",
        r"https?:\/\/(www\.)?[\w.-]+\.(com|net|org)\/", r"^[a-z]+[0-9]+[a-z]+[0-9]+\.",
        "^(" + "|".join(f"ads{number}" for number in range(300)) + ")[0-9]*$",
    ],
)  # fmt: skip
def test_accepted(source):
    """Ordinary expressions are accepted, and the worst lines for them take no more work than a line may."""
    regex = Regex(source)
    for part, many in {
        "a": 100_000,
        "a.": 10_000,
        "1a": 10_000,
        "comco": 4_000,
        "\0": 20_000,
        " ": 20_000,
        ",": 5_000,
    }.items():
        assert regex.bound_work(part * many) <= 30_000_000
        assert regex.matches(part * many) is (part in FOUND.get(source, ()))


fragments = st.sampled_from(["a", "b", ".", ".*", ".+?", "(a|b)", "[ab]", "^", "$", "a?", "b*", "(?:ab)+", "[^a]"])


@given(st.lists(fragments, max_size=7).map("".join), st.text(alphabet="abc", max_size=10))
def test_shortcuts_keep_the_meaning(source, line):
    """The optimisation does not change which lines an expression matches."""
    try:
        regex = Regex(source)
    except Invalid:
        return
    assert regex.matches(line) is (re.search(source, line, re.IGNORECASE | re.MULTILINE) is not None)


@pytest.mark.parametrize("part", ["a", "a?", "[ab]?c", "(?:a|b)", ".*a", "(?=a)", "(?:ab)*", "[а-я]", r"\w+\."])
def test_the_check_is_linear(part):
    """An expression is checked in time that grows with its length, up to the longest, whatever it consists of."""

    def check(source: str) -> None:
        with suppress(Invalid):
            Regex(source)

    longest = 3_900 // len(part)
    check_linear(lambda many: f"(?:{part * many})*", check, size=longest // GROWTH)


def test_a_long_line_does_not_end_where_the_search_ends():
    """An expression whose search stops early does not take that place for the end of the line."""
    assert Regex(r"\s+$").matches(" " * 1_000)
    assert not Regex(r"\s+$").matches(" " * 50_000 + "y")
