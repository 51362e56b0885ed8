"""ConvertToAscii: converts domain names to Punycode, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.core.filters.rules import run


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("||münchen.de^", "||xn--mnchen-3ya.de^"),
        ("@@||МОСКВА.РФ^|", "@@||xn--80adxhks.xn--p1ai^|"),
        ("0.0.0.0 бюро.рф a.com", "0.0.0.0 xn--90a0af9c.xn--p1ai a.com"),
        ("*.рф", "*.xn--p1ai"),
        ("straße.de", "xn--strae-oqa.de"),
        ("ｗｗｗ.com", "www.com"),
        ("a。бюро.рф", "a.xn--90a0af9c.xn--p1ai"),
        ("☃.com", "xn--n3h.com"),
        ("бюро.рф.", "xn--90a0af9c.xn--p1ai."),
        ("||a.com^$denyallow=бюро.рф|b.com,client=x", "||a.com^$denyallow=xn--90a0af9c.xn--p1ai|b.com,client=x"),
        ("||a.com^$dnsrewrite=NOERROR;CNAME;бюро.рф", "||a.com^$dnsrewrite=NOERROR;CNAME;xn--90a0af9c.xn--p1ai"),
        ("бюро.рф,a.com##.реклама", "xn--90a0af9c.xn--p1ai,a.com##.реклама"),
        ("~бюро.рф#@#.x", "~xn--90a0af9c.xn--p1ai#@#.x"),
        ("||бюро.рф/путь.jpg", "||xn--90a0af9c.xn--p1ai/путь.jpg"),
        ("://бюро.рф:80/", "://xn--90a0af9c.xn--p1ai:80/"),
        ("/a\\.b.я/$domain=бюро.рф", "/a\\.b.я/$domain=xn--90a0af9c.xn--p1ai"),
        (" ! бюро.рф", " ! xn--90a0af9c.xn--p1ai"),
        ("@@例え.jp^", "@@xn--r8jz45g.jp^"),
        ("@@*.faß.de", "@@*.xn--fa-hia.de"),
        ("@@://☃.net^", "@@://xn--n3h.net^"),
        (" @@бюро.рф:80/путь.x$domain=~а.рф", " @@xn--90a0af9c.xn--p1ai:80/путь.x$domain=~xn--80a.xn--p1ai"),
        ("@@*://*.бюро.рф/", "@@*://*.xn--90a0af9c.xn--p1ai/"),
        ("HTTP://кто@бюро.рф?я", "HTTP://кто@xn--90a0af9c.xn--p1ai?я"),
        (
            "[$domain=бюро.рф,path=/путь.html]а.рф##.реклама.x",
            "[$domain=xn--90a0af9c.xn--p1ai,path=/путь.html]xn--80a.xn--p1ai##.реклама.x",
        ),
        ("//бюро.рф^", "//xn--90a0af9c.xn--p1ai^"),
        ("@@/а.рф/$domain=а.рф", "@@/а.рф/$domain=xn--80a.xn--p1ai"),
        ("||ẞ.de^", "||xn--zca.de^"),
    ],
)
def test_names(line, result):
    """Each domain name is converted in place; selectors, paths and modifiers are not changed."""
    assert run("ConvertToAscii", line) == [result]


@pytest.mark.parametrize(
    "line",
    [
        "||example.com^",
        "||рф^",
        ".рф",
        "! бюро.рф",
        "# бюро.рф",
        'a.com##div[title="Реклама.Баннер"]',
        "##.реклама",
        "/реклама\\.рф/",
        "||ex%ample.рф^",
        "||*бюро.рф^",
        "\u0301а.рф",
        "אa.com",
        "\u200da.com",
        "а\ud800.рф",
        "а\0.рф",
        "я" * 2000 + ".рф",
        "\uff0a.бюро.рф",
        "\u00ad.бюро.рф",
    ],
)
def test_untouched(line):
    """Text that is not a domain name, or has no ASCII form, is not changed."""
    assert run("ConvertToAscii", line) == [line]


NAMES = ["münchen.de", "МОСКВА.рф", "例え.jp", "faß.de", "☃.net", "a.пример.com", "भारत.भारत", "θεοσ.gr", "中国.中国"]
BEFORE = ["", "@@", "||", "@@||", "|", "@@|", "://", "@@://", "|https://", "@@http://", "*.", "@@*.", "||*.", "@@||*.", ".", "@@.", "*://*.",
          " ", " @@", "0.0.0.0 ", "::1 a.com ", "http://user@", "~"]  # fmt: skip
AFTER = ["", "^", "^|", "|", ".", ".^", "/", "/*", ":80", ":80^", "/path.html?x=1", "?x=y.z", "^$important", "$third-party", "^$domain=a.com|",
         " b.com", "##.ad", "#@#.ad", "^$denyallow=", "/$domain=~"]  # fmt: skip
rules = st.builds(
    lambda before, name, after, value: f"{before}{name}{after}{value if after.endswith(('=', '|', '~')) else ''}",
    *map(st.sampled_from, (BEFORE, NAMES, AFTER, NAMES)),
)


@given(rules)
def test_every_position(rule: str):
    """A name is converted wherever a rule can have one, all else stays, and to convert again changes nothing."""
    (result,) = run("ConvertToAscii", rule)
    assert result.isascii()
    kept = [part for part in BEFORE + AFTER if part and part not in {" ", "."}]
    assert [part in result for part in kept if part in rule] == [True for part in kept if part in rule]
    assert run("ConvertToAscii", result) == [result]
