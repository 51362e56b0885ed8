"""Compress: one form for hosts, and none of them twice."""

import pytest

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
    """Hosts lines and bare domains become rules; everything else passes."""
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
def test_redundant_rules_go(lines, result):
    """The first of equal hosts stays, and no host stays below a wider one."""
    assert run("Compress", *lines) == result


def test_trace():
    """Each rule made of a hosts line leads back to it, and the reason names the rule that stays."""
    traced = trace("Compress", "0.0.0.0 x.b.a.com b.com", "b.com", "b.a.com", "a.com")
    assert traced.lines == ["||b.com^", "||a.com^"]
    assert traced.origins == [0, 3]
    assert [(line.index, line.text, line.reason) for line in traced.dropped] == [
        (0, "||x.b.a.com^", "covered by ||a.com^"),
        (1, "||b.com^", "duplicate of ||b.com^"),
        (2, "||b.a.com^", "covered by ||a.com^"),
    ]


def test_no_reason_for_what_stays():
    """A list without redundancy drops nothing."""
    assert reasons("Compress", "a.com", "b.com", "! c", "") == {}
