"""Exclusions and inclusions by domain."""

import pytest

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.domain_patterns import DomainExclusions, DomainInclusions, DomainPatterns


def exclude(*domains: str, lines: list[str]) -> list[str]:
    step = DomainExclusions(DomainPatterns.parse(domains))
    assert step.trace(lines).lines == step.apply(lines)
    return step.apply(lines)


def include(*domains: str, lines: list[str]) -> list[str]:
    step = DomainInclusions(DomainPatterns.parse(domains))
    assert step.trace(lines).lines == step.apply(lines)
    return step.apply(lines)


@pytest.mark.parametrize(
    "rule",
    [
        "||b.org^", "|b.org^", "b.org", "0.0.0.0 b.org", ":: b.org", "127.0.0.1\tb.org # note", "||B.ORG^", "||b.org^|",
        "://b.org^", "||b.org^$important", "||b.org^$third-party", "||b.org^$dnstype=A", "||b.org^$dnsrewrite=1.2.3.4",
        "b.org.", "||b.org.^", "  ||b.org^  ", "0.0.0.0 B.org b.org.", "||b.org/*",
    ],
)  # fmt: skip
def test_a_name_in_every_syntax(rule):
    """A domain finds the rules of its name in every syntax and with any modifier, and nothing below or beside it."""
    assert exclude("b.org", lines=[rule]) == []
    assert exclude("B.org.", lines=[rule]) == []
    assert include("b.org", lines=[rule]) == [rule]
    assert exclude("*.b.org", "a.b.org", "org.b", "oodb.org", "bb.org", lines=[rule]) == [rule]


@pytest.mark.parametrize(
    "rule", ["||bücher.de^", "||BÜCHER.de^", "0.0.0.0 bücher.de", "xn--bcher-kva.de", "://bücher.de^", "||bücher.de.^"]
)
@pytest.mark.parametrize("domain", ["bücher.de", "BÜCHER.de.", "xn--bcher-kva.de", "XN--BCHER-KVA.DE"])
def test_an_international_name_in_every_spelling(rule, domain):
    """Either side may be in Unicode or in Punycode."""
    assert exclude(domain, lines=[rule]) == []
    assert include(domain, lines=[rule]) == [rule]
    assert exclude(f"*.{domain}", lines=[rule]) == [rule]


@pytest.mark.parametrize(
    "rule",
    [
        "||goodb.org^", "||b.org.evil.net^", "||a.b.org^", "||*.b.org^", "||org^", "@@||b.org^", "@@b.org", "! b.org", "# b.org",
        "||b.org/ads.js", "b.org##.ad", "/b\\.org/", "||b.org^$badfilter", "||x.com^$denyallow=b.org", "", "||b.org", "b.org^",
    ],
)  # fmt: skip
def test_what_a_name_leaves_alone(rule):
    """Look-alikes, wider rules, exceptions, paths, patterns and other kinds of rules stay."""
    assert exclude("b.org", lines=[rule]) == [rule]


def test_names_below():
    """`*.b.org` is what is below b.org, without b.org."""
    lines = ["||b.org^", "||a.b.org^", "0.0.0.0 x.a.b.org", "||*.b.org^", ".b.org^", "goodb.org", "||*.a.b.org^"]
    assert exclude("*.b.org", lines=lines) == ["||b.org^", "goodb.org"]
    assert include("*.b.org", lines=lines) == [
        "||a.b.org^",
        "0.0.0.0 x.a.b.org",
        "||*.b.org^",
        ".b.org^",
        "||*.a.b.org^",
    ]


def test_a_hosts_line_with_several_names():
    """Only the excluded names are taken out of a hosts line."""
    lines = ["0.0.0.0 a.org b.org c.org # note", "0.0.0.0 b.org B.ORG"]
    assert exclude("b.org", lines=lines) == ["0.0.0.0 a.org c.org"]
    assert include("b.org", "c.org", lines=lines) == ["0.0.0.0 b.org c.org", "0.0.0.0 b.org B.ORG"]


def test_inclusions_never_drop_the_exception_of_a_kept_rule():
    """An exception that is wider than an included domain stays: without it, something allowed would be blocked."""
    lines = ["||a.b.org^", "@@||b.org^", "@@||other.org^", "@@|b.org^", "@@||*.org^", "! note"]
    assert include("a.b.org", lines=lines) == ["||a.b.org^", "@@||b.org^", "@@||*.org^"]


def test_international_names():
    """A name and a rule are compared in ASCII, however each is written."""
    lines = ["||münchen.de^", "0.0.0.0 xn--mnchen-3ya.de", "||bünchen.de^"]
    assert exclude("München.de", lines=lines) == ["||bünchen.de^"]
    assert exclude("xn--mnchen-3ya.de", lines=lines) == ["||bünchen.de^"]


@pytest.mark.parametrize(
    "text", ["||b.org^", "b.org/x", "org", "1.2.3.4", "a b.org", "*.", "b..org", "*b.org", "a.*.org", "@@b.org"]
)
def test_no_domain(text):
    """Anything else is refused with a sentence that shows both forms."""
    with pytest.raises(Invalid, match=r"is no domain: write example\.org .* or \*\.example\.org"):
        DomainPatterns.parse([text])


def test_the_trace_gives_reasons():
    """Each dropped rule has a reason, and each line that stays its origin."""
    trace = DomainExclusions(DomainPatterns.parse(["b.org"])).trace(["||a.org^", "||b.org^", "0.0.0.0 b.org c.org"])
    assert (trace.lines, trace.origins) == (["||a.org^", "0.0.0.0 c.org"], [0, 2])
    assert [(drop.at, drop.reason) for drop in trace.dropped] == [(1, "blocks an excluded domain")]
