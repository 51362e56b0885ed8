"""What a list says of a name."""

import pytest

from sluice.core.filters.verdicts import NameVerdicts


@pytest.mark.parametrize(
    ("lines", "name", "verdict"),
    [
        (["||x.com^"], "a.x.com", "blocked"),
        (["||x.com^"], "goodx.com", "none"),
        (["|x.com^"], "a.x.com", "none"),
        (["||*.x.com^"], "x.com", "none"),
        (["x.com^"], "goodx.com", "blocked"),
        (["||x.com"], "x.community", "blocked"),
        (["com"], "x.com", "none"),
        (["||x.com.^"], "x.com", "none"),
        (["0.0.0.0 x.com", "@@||x.com^"], "x.com", "allowed"),
        (["||x.com^$important", "@@||x.com^"], "x.com", "blocked"),
        (["||x.com^$important", "@@||x.com^$important"], "x.com", "allowed"),
        (["||x.com^", "||x.com^$badfilter"], "x.com", "none"),
        (["||x.com^$client=c", "||x.com^$popup"], "x.com", "none"),
        (["/^x[0-9]\\.com$/"], "x1.com", "blocked"),
        (["@@/^x/", "||x.com^"], "x.com", "allowed"),
        (["://"], "x.com", "blocked"),
        (["/ads.x."], "ads.x.com", "blocked"),
        (["*/ads.x."], "ads.x.com", "blocked"),
        (["/ads.x."], "badads.x.com", "none"),
        (["/ads/x."], "ads.x.com", "none"),
        (["||x.com^*ad"], "x.com", "none"),
        (["||x.com^^", "||*^x.com^"], "x.com", "blocked"),
        (["||bücher.de^"], "a.xn--bcher-kva.de", "blocked"),
        (["||BÜCHER.de^"], "xn--bcher-kva.de", "blocked"),
        (["0.0.0.0 бюро.рф"], "xn--90a0af9c.xn--p1ai", "blocked"),
        (["||xn--bcher-kva.de^", "@@||bücher.de^"], "xn--bcher-kva.de", "allowed"),
        (["||рф^"], "a.xn--p1ai", "blocked"),
        (["||*.рф^$denyallow=бюро.рф"], "xn--90a0af9c.xn--p1ai", "none"),
        (["бюро.рф^"], "a.xn--90a0af9c.xn--p1ai", "blocked"),
        (["||бюро.*^"], "xn--90a0af9c.com", "blocked"),
        (["||xn--bcher-kva.de^", "||bücher.de^$badfilter"], "xn--bcher-kva.de", "none"),
        (["||ΟΣ.gr^"], "xn--0xai.gr", "blocked"),
    ],
)
def test_verdicts(lines, name, verdict):
    """The verdict follows the width and the precedence of the rules."""
    assert NameVerdicts(lines).decide(name).verdict == verdict
