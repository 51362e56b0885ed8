"""ConvertToAscii: converts domain names to Punycode, and nothing else."""

import pytest

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
    ],
)
def test_untouched(line):
    """Text that is not a domain name, or has no ASCII form, is not changed."""
    assert run("ConvertToAscii", line) == [line]
