"""Compress: converts hosts rules to one form and drops redundant ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.filters.transformations.compress import COMPRESS, CONVERT_ONLY
from unit.core.filters.rules import reasons, run, trace


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("0.0.0.0 a.com", ["||a.com^"]),
        ("127.0.0.1\ta.com  b.com\t# c.com", ["||a.com^", "||b.com^"]),
        ("::1 a.com", ["||a.com^"]),
        ("fe80::1%lo0 a.com", ["||a.com^"]),
        ("[::1] a.com", ["||a.com^"]),
        ("0.0.0.0\xa0a.com", ["||a.com^"]),
        ("0.0.0.0 a.com#b.com", ["||a.com^"]),
        ("0.0.0.0 A.com", ["||A.com^"]),
        ("feed me.com", ["||me.com^"]),
        ("FE80::1 a.com", ["FE80::1 a.com"]),
        ("0.0.0.0 # a.com", ["0.0.0.0 # a.com"]),
        ("0.0.0.0  # a.com", ["0.0.0.0  # a.com"]),
        ("0.0.0.0 ", ["0.0.0.0 "]),
        ("a.com", ["||a.com^"]),
        ("A.com.", ["||A.com.^"]),
        ("a", ["a"]),
        (" a.com", [" a.com"]),
        ("a_b.com", ["a_b.com"]),
        ("-a.com", ["-a.com"]),
        (f"{'a' * 63}.com", [f"||{'a' * 63}.com^"]),
        (f"{'a' * 64}.com", [f"{'a' * 64}.com"]),
        ("||a.com^$", ["||a.com^$"]),
        ("/a/", ["/a/"]),
        ("##.ad", ["##.ad"]),
        ("", [""]),
    ],
)
def test_forms(line, rules):
    """Hosts rules and bare domains become `||host^`; everything else is kept."""
    assert run("Compress", line) == rules


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["a.com", "0.0.0.0 a.com", "||a.com^"], ["||a.com^"]),
        (["||x.a.com^", "||a.com^", "y.a.com"], ["||a.com^"]),
        (["||a.com^$", "||a.com^"], ["||a.com^$"]),
        ([" ||a.com^", "||x.a.com^"], [" ||a.com^"]),
        (["||com^", "a.com", "a.org"], ["||com^", "||a.org^"]),
        (["||A.com^", "||x.a.com^", "||a.com^"], ["||A.com^", "||a.com^"]),
        (["@@||a.com^", "@@||a.com^", "||a.com^"], ["@@||a.com^", "@@||a.com^", "||a.com^"]),
        (["||a.com^$important", "||x.a.com^$important"], ["||a.com^$important", "||x.a.com^$important"]),
        (["! a", "a.com", "# b", "x.a.com"], ["! a", "||a.com^", "# b"]),
        (["||constructor^", "||a.constructor^"], ["||constructor^"]),
    ],
)
def test_redundant_rules_are_dropped(lines, result):
    """Only the first of equal hosts is kept, and no host below a wider one."""
    assert run("Compress", *lines) == result


def test_trace():
    """Each rule from a hosts rule has its origin, and the reason names the rule that replaces a dropped one."""
    traced = trace("Compress", "0.0.0.0 x.b.a.com b.com", "b.com", "b.a.com", "a.com")
    assert traced.lines == ["||b.com^", "||a.com^"]
    assert traced.origins == [0, 3]
    assert [(line.at, line.text, line.reason) for line in traced.dropped] == [
        (0, "||x.b.a.com^", "covered by ||a.com^"),
        (1, "||b.com^", "duplicate of ||b.com^"),
        (2, "||b.a.com^", "covered by ||a.com^"),
    ]


def test_nothing_to_drop():
    """A list without redundancy drops nothing."""
    assert reasons("Compress", "a.com", "b.com", "! c", "") == {}


def test_mixed_lines():
    """Hosts rules with different addresses, and rules, may alternate; one without a dot covers what is below it."""
    lines = [
        "||a.com^",
        "0.0.0.0 b.com",
        "||x.b.com^",
        "0.0.0.0 c.net",
        "127.0.0.1 d.com",
        "0.0.0.0\te.com",
        "||f.com^",
        "0.0.0.0 a.a.com",
        "||net^",
        "::1 g_g.org",
    ]
    result = ["||a.com^", "||b.com^", "||d.com^", "||e.com^", "||f.com^", "||net^", "||g_g.org^"]
    assert COMPRESS.apply(list(lines)) == result
    assert COMPRESS.trace(list(lines)).lines == result
    dropped = [line.reason for line in COMPRESS.trace(list(lines)).dropped]
    assert dropped == ["covered by ||b.com^", "covered by ||net^", "covered by ||a.com^"]


near_domains = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "0.0.0.0 ", "0.0.0.0 ", "127.0.0.1\t", "||", "@@||", " "]),
    st.lists(st.sampled_from(["a", "com", "-", "x-", "1", "", "A", "a_b", "a" * 63, "b" * 64]), max_size=6).map(
        ".".join
    ),
    st.sampled_from(["", "", "^", ".", " ", "/x"]),
)


@given(st.lists(near_domains, min_size=1, max_size=7))
def test_many_lines_at_a_time(lines: list[str]):
    """A run of lines becomes the rules that each line becomes by itself."""
    traced = COMPRESS.trace(list(lines))
    converted = sorted([*traced.lines, *(line.text for line in traced.dropped)])
    assert converted == sorted(CONVERT_ONLY.apply(lines))
