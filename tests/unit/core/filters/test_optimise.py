"""Optimise: shorter lists with the same verdict for every name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.core.filters.brute_matcher import decide
from unit.core.filters.rules import reasons, run


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["||x.com^", "||a.x.com^", "|b.x.com^", "0.0.0.0 c.x.com", "d.x.com"], ["||x.com^"]),
        (["||*.x.com^", "||a.x.com^", "0.0.0.0 b.x.com", "||x.com^"], ["||x.com^"]),
        (["||*.x.com^", "|a.x.com^", "|x.com^"], ["||*.x.com^", "|x.com^"]),
        (["||x.com^", "0.0.0.0 a.x.com b.com"], ["||x.com^", "0.0.0.0 a.x.com b.com"]),
        (["@@||x.com^", "||a.x.com^", "0.0.0.0 x.com"], ["@@||x.com^"]),
        (["@@||x.com^", "||a.x.com^$important"], ["@@||x.com^", "||a.x.com^$important"]),
        (["@@||x.com^", "@@||a.x.com^", "@@||b.x.com^$important"], ["@@||x.com^", "@@||b.x.com^$important"]),
        (["||x.com^$important", "||a.x.com^"], ["||x.com^$important"]),
        (["||x.com^", "||a.x.com^$important"], ["||x.com^", "||a.x.com^$important"]),
        (["||Ads.Example.COM^", "||ads.example.com^", "||ads.example.com.^"], ["||ads.example.com^"]),
        (["||x.com^", "||a.x.com^$popup", "||b.x.com^$client=c"], ["||x.com^", "||a.x.com^$popup"]),
        (["||x.com^$client=c", "||a.x.com^"], ["||x.com^$client=c", "||a.x.com^"]),
        (["||x.com^", "||x.com^$badfilter", "||a.x.com^"], ["||x.com^", "||x.com^$badfilter", "||a.x.com^"]),
        (["||x.com^", "||a.x.com^$dnsrewrite=1.2.3.4"], ["||x.com^", "||a.x.com^$dnsrewrite=1.2.3.4"]),
        (["||x.com", "||x.com^", "||a.x.com^", "||y.com^"], ["||x.com", "||y.com^"]),
        (["||x.com^", "||a.x.com/ad.js", "||y.com/ad.js"], ["||x.com^", "||y.com/ad.js"]),
        (["/track/pixel.", "||y.com/track/pixel.gif", "||y.com/pixel"], ["/track/pixel.", "||y.com/pixel"]),
        (["! c", "||x.com^", "! d", "||a.x.com^"], ["! c", "||x.com^", "! d"]),
        (["||goodx.com^", "||x.com^"], ["||goodx.com^", "||x.com^"]),
        (
            ["||x.com/ad", "||a.x.com/ads.js", "||goodx.com/ads.js", "||x.com/b/ad"],
            ["||x.com/ad", "||goodx.com/ads.js", "||x.com/b/ad"],
        ),
        (
            ["||log*.x.com^", "||log1.x.com^", "||log.x.com^", "||a.log2.x.com/p", "||l.x.com^"],
            ["||log*.x.com^", "||l.x.com^"],
        ),
        (["||x.com/*/ad.js", "||x.com/a/ad.js", "||x.com/a/b.js"], ["||x.com/*/ad.js", "||x.com/a/b.js"]),
        (
            ["||x.com/ad^", "||x.com/ad/b", "||x.com/ads", "||x.com/ad*b"],
            ["||x.com/ad^", "||x.com/ads", "||x.com/ad*b"],
        ),
        (["@@||x.com/ad", "||x.com/ads.js", "||x.com/ads.js$important"], ["@@||x.com/ad", "||x.com/ads.js$important"]),
        (["||x.com/ad", "@@||x.com/ads.js"], ["||x.com/ad", "@@||x.com/ads.js"]),
        (["||x.com/ad$popup", "||x.com/ads.js"], ["||x.com/ad$popup", "||x.com/ads.js"]),
        (
            ["||x.com/ad", "||x.com/ad$badfilter", "||x.com/ads.js"],
            ["||x.com/ad", "||x.com/ad$badfilter", "||x.com/ads.js"],
        ),
        (["||x.com/a**b.js", "||x.com/a*b.js"], ["||x.com/a*b.js"]),
        (["ads.com", "||ads.com/x.js", "||goodads.com^"], ["ads.com", "||ads.com/x.js", "||goodads.com^"]),
        (["||x.com^", "||_dmarc.x.com^"], ["||x.com^", "||_dmarc.x.com^"]),
        (["||1.2.3.", "||1.2.3.4^", "0.0.0.0 1.2.3.x.com"], ["||1.2.3."]),
        (["##.ad", "/re/", "x.com##.ad", ""], ["##.ad", "/re/", "x.com##.ad", ""]),
    ],
)
def test_redundant_rules(lines, result):
    """A rule is dropped if another decides all of its names the same way, and no other rule is."""
    assert run("Optimise", *lines) == result


def test_reasons():
    """A dropped rule has its reason."""
    assert reasons("Optimise", "||x.com^", "||a.x.com^", "@@||y.com^", "||y.com^") == {
        "||a.x.com^": "covered by a wider rule",
        "||y.com^": "inside of an exception",
    }


labels = st.sampled_from(["a", "b", "x"])
names = st.lists(labels, min_size=1, max_size=3).map(lambda parts: ".".join([*parts, "com"]))
shapes = st.sampled_from(["||{}^", "|{}^", "||*.{}^", "{}", "0.0.0.0 {}", "@@||{}^", "@@|{}^", "@@||*.{}^", "||{}^$important",
                          "@@||{}^$important", "||{}^$badfilter", "{}^", "||{}", ".{}^", "||{}^|", "://{}^", "||{}/ad"])  # fmt: skip
rules = st.builds(lambda shape, name: shape.format(name), shapes, names)


@given(st.lists(rules, max_size=7), st.lists(names, max_size=8))
def test_no_verdict_changes(lines, hosts):
    """Every name that the list mentions, its children and others are blocked or not as before."""
    optimised = run("Optimise", *lines)
    assert len(optimised) <= len(lines)
    for host in {*hosts, *(f"a.{host}" for host in hosts)}:
        assert (decide(optimised, host) == "blocked") == (decide(lines, host) == "blocked"), host
