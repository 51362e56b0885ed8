"""Validate and its variants: which rules are kept, which are dropped, and the reasons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.filters.transformations.validate import (
    VALIDATE,
    VALIDATE_ALLOW_IP,
    VALIDATE_ALLOW_PUBLIC_SUFFIX,
    Validator,
)
from unit.core.filters.rules import reasons, run, trace

SUFFIX = "matches only a public suffix"
CHARACTERS = "characters that no domain name has"
COSMETIC = "a cosmetic rule, which DNS cannot apply"
PARTIAL = "a part of an IP address"
MALFORMED = "malformed hostname"


@pytest.mark.parametrize(
    "line",
    [
        "||a.com^", "@@||a.com^|", "||a.com", "|a.com|", "a.com^", "||sub.a-b.co.uk^", "||A.Com^", "||github.io^",
        "||www.ck^", "||city.kawasaki.jp^", "||a.nosuchtld^", "||a.com.^", "||.a.com^", "||a.com^|x", "a.b^", "||*.a.com^",
        "||a*.com^", "||*.*^", "*.com", "://a.com^", "abcde", "/re(/", "/a b c/$important", "||a.com^$important", " a.com ",
        "||com^$denyallow=a.com", "*.ru^$client=x,important", "com^$badfilter", "||a.com^$dnsrewrite=1.2.3.4",
        "0.0.0.0 a.com b.co.uk # c", "::1 a_b.com", "0.0.0.0 http://user@A.com:80/x", "dead.beef a.com", "|1.2.3.4|",
        "||1.2.3.4.5^", "||0x7f.1^", f"||{'a' * 63}.com^", "! heading", "", "  ", "@@*.a.com^", "||256.1.1.^",
        "12345.*",
    ],
)  # fmt: skip
def test_valid(line):
    """Rules that a DNS server can apply are kept in every variant; only the form of addresses may change."""
    assert run("Validate", line) == [line]
    assert run("ValidateAllowPublicSuffix", line) == [line]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("||com^", SUFFIX),
        ("||co.uk^", SUFFIX),
        ("*.com^", SUFFIX),
        (".co.uk^|", SUFFIX),
        ("||*.com^", SUFFIX),
        ("||foo.ck^", SUFFIX),
        ("||COM^", SUFFIX),
        ("||xn--p1ai^", SUFFIX),
        ("||localhost^", SUFFIX),
        ("||com^$important", SUFFIX),
        ("0.0.0.0 a.com co.uk", SUFFIX),
        ("abcd", "pattern too short"),
        ("||a", "pattern too short"),
        ("@@", "pattern too short"),
        ("/x/", "pattern too short"),
        ("||a.com^$third-party", "modifier third-party is not supported by DNS"),
        ("||a.com^$important,domain=x", "modifier domain is not supported by DNS"),
        ("||a.com^$Important", "modifier Important is not supported by DNS"),
        ("||a.com/path", CHARACTERS),
        ("||a_b.com^", CHARACTERS),
        ("||ü.com^", CHARACTERS),
        ("/path/to/file", CHARACTERS),
        ("[Adblock Plus 2.0]", CHARACTERS),
        ("0.0.0.0 # a.com", CHARACTERS),
        ("a.com##.ad", COSMETIC),
        ("##.ad", COSMETIC),
        ("a.com#$#body { x }", COSMETIC),
        ("a.com$$script[x]", COSMETIC),
        ("||1.2.3.4^", "an IP address"),
        ("://1.2.3.4", "an IP address"),
        ("0.0.0.0 1.2.3.4", "an IP address"),
        ("999.1.1.1", "an IP address"),
        ("1.2.3.4^", PARTIAL),
        ("1.2.3", PARTIAL),
        ("||1.2.3.*", PARTIAL),
        ("|1.2^", PARTIAL),
        ("||1.2.3.4^$denyallow=a.com", "denyallow does not work with an IP address"),
        ("||a.com^*", "text after the separator"),
        ("||a.com^x", "text after the separator"),
        ("||a..b^", MALFORMED),
        ("||-a.com^", MALFORMED),
        (f"||{'a' * 64}.com^", MALFORMED),
        ("0.0.0.0 *.a.com", MALFORMED),
        ("0.0.0.0  # c", "an address without a hostname"),
    ],
)
def test_invalid(line, reason):
    """All other rules are dropped with a stable reason."""
    assert run("Validate", line) == []
    assert reasons("Validate", line) == {line: reason}


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("1.2.3.4", ["||1.2.3.4^"]),
        ("|1.2.3.4^|", ["||1.2.3.4^"]),
        ("@@1.2.3.4$important", ["@@||1.2.3.4^$important"]),
        (" 1.2.3.4 ", ["||1.2.3.4^"]),
        (" ||1.2.3.4^", [" ||1.2.3.4^"]),
        ("||1.2.3.4^$", ["||1.2.3.4^$"]),
        ("1.2.3.", ["||1.2.3."]),
        ("|1.2.3.*$client=a=b", ["||1.2.3.*$client=a=b"]),
        ("||1.2.3..*", ["||1.2.3..*"]),
        ("256.1.1.1", ["256.1.1.1"]),
        ("0.0.0.0 1.2.3.4", ["0.0.0.0 1.2.3.4"]),
        ("0.0.0.0 [::1]", ["0.0.0.0 [::1]"]),
        ("||1.2^", []),
        ("1.2.3^", []),
        ("||1.2.3.4.*", []),
        ("||::1^", []),
        ("||com^", []),
        ("@@", []),
    ],
)
def test_allow_ip(line, result):
    """Addresses and subnets are kept in the form that works everywhere; parts of addresses are dropped."""
    assert run("ValidateAllowIp", line) == result
    assert run("ValidateAllowIpAndPublicSuffix", line) == (result or (["||com^"] if line == "||com^" else []))


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("||com^", ["||com^"]),
        ("*.co.uk^", ["*.co.uk^"]),
        ("||foo.ck^", ["||foo.ck^"]),
        ("||nosuchtld^", []),
        ("0.0.0.0 com", ["0.0.0.0 com"]),
    ],
)
def test_allow_public_suffix(line, result):
    """Listed public suffixes are kept; an unknown single label is dropped."""
    assert run("ValidateAllowPublicSuffix", line) == result
    if not result:
        assert reasons("ValidateAllowPublicSuffix", line) == {line: "not a known public suffix"}


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["! 1", "", "||a/b", "! 2", "||a.com^"], ["! 2", "||a.com^"]),
        (["! 1", "||a.com^", "# 2", "||a/b"], ["! 1", "||a.com^"]),
        (["! 1", " ", "! 2", "||a/b"], ["! 1", " "]),
        (["||a/b", "! end"], ["! end"]),
    ],
)
def test_leading_comments_are_dropped(lines, result):
    """Comments and empty lines directly above a dropped rule are dropped too, up to a line of white space."""
    assert run("Validate", *lines) == result


def test_trace():
    """Kept lines have their origin; comments above a dropped rule have a reason of their own."""
    traced = trace("Validate", "! 1", "||a/b", "||a.com^")
    assert traced.origins == [2]
    assert [line.reason for line in traced.dropped] == ["comment or empty line above a dropped rule", CHARACTERS]


@pytest.mark.parametrize(
    "line",
    [
        "://", "||*^", "||*^|", "||**^", "|*^*|", "://*", "://*^", "|http*", "*http*", "|http^*", "*://*", "@@||*^|",
        "/.*/", "/^.+$/", "/[a-z]/", "/./$important", "||*^$important", "/[a-z]?/", "/.*|ads/", "@@/^(.*)$/", "/(?:ads)*/",
        "/\\w+/$important", "/[.]+/",
    ],
)  # fmt: skip
def test_rules_that_match_every_name(line):
    """A rule that blocks, or allows, every name is dropped; one that a modifier narrows is not dropped for that."""
    for name in ("Validate", "ValidateAllowIp", "ValidateAllowPublicSuffix", "ValidateAllowIpAndPublicSuffix"):
        assert run(name, line) == []
    assert run("Validate", "/^.+$/$dnstype=AAAA", "||*^|$client=tv") == ["/^.+$/$dnstype=AAAA", "||*^|$client=tv"]


@pytest.mark.parametrize(
    "line",
    [
        "/[0-9]/",
        r"/\d{1,3}/$important",
        r"@@/\d+/",
        "/[a-y]+$/",
        "/^[a-z]/",
        "/[-_]/",
        "/^.{1,60}$/",
        "/(?!x)y/",
        r"/\.[0-9]/",
    ],
)
def test_rules_that_match_many_names(line):
    """A regular expression that some name does not match is kept, however short."""
    for name in ("Validate", "ValidateAllowIp", "ValidateAllowPublicSuffix", "ValidateAllowIpAndPublicSuffix"):
        assert run(name, line) == [line]


# Lines near the forms that are recognised many at a time.
near_rules = st.builds(
    "{}{}{}".format,
    st.sampled_from(["||", "||", "|", "", "@@||", "://", "||a", "||com"]),
    st.one_of(
        st.text(alphabet="ac1.-*^|$/", max_size=8),
        st.lists(st.sampled_from(["a", "com", "ck", "uk", "1", "-", "*", "", "a" * 40, "b" * 64]), max_size=8).map(
            ".".join
        ),
    ),
    st.sampled_from(["^", "^", "", "^|", "^*", "^*.x", ".", "^$important", "/"]),
)


@pytest.mark.parametrize("validator", [VALIDATE, VALIDATE_ALLOW_IP, VALIDATE_ALLOW_PUBLIC_SUFFIX])
@given(lines=st.lists(near_rules, min_size=1, max_size=6))
def test_many_lines_at_a_time(validator: Validator, lines: list[str]):
    """A run of lines has the flaws that each line has by itself."""
    one_by_one = {at: flaw for at, line in enumerate(lines) if (flaw := validator._find_flaw(line))}
    assert validator._find_flaws(lines) == one_by_one
