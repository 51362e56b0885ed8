"""RemoveModifiers: removes modifiers that DNS cannot use, and nothing else."""

import pytest

from unit.core.filters.rules import run


@pytest.mark.parametrize("name", ["third-party", "3p", "all", "document", "doc", "popup", "network"])
@pytest.mark.parametrize(
    ("value", "rest"), [("{}", ""), ("{}=1", ""), ("{},important", "$important"), ("x,{},y", "$x,y")]
)
def test_removed(name, value, rest):
    """Each modifier is removed with its value, at any position."""
    assert run("RemoveModifiers", f"||a.com^${value.format(name)}") == [f"||a.com^{rest}"]


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("||a.com^$~third-party", "||a.com^$~third-party"),
        ("||a.com^$Third-Party", "||a.com^$Third-Party"),
        ("||a.com^$popups", "||a.com^$popups"),
        ("||a.com^$", "||a.com^"),
        ("||a.com^$,,important=,", "||a.com^$important"),
        ("||a.com^$client=a=b,all", "||a.com^$client=a=b"),
        (r"||a.com^$csp=x\,y,all", r"||a.com^$csp=x\,y"),
        (r"||a.com^\$all", r"||a.com^\$all"),
        ("||a.com/$x$all", "||a.com/$x"),
        ("@@||a.com^$document", "@@||a.com^"),
        ("$all", ""),
        ("@@", "@@"),
        ("/a$all/", "/a$all/"),
        ("/a/$all", "/a/"),
        ("  ||a.com^$all\xa0", "||a.com^"),
        (" ! $all", "! $all"),
        ("#$all", "#"),
        ("0.0.0.0 a.com", "0.0.0.0 a.com"),
        ("a.com#$#body { x: y, all }", "a.com#$#body { x: y, all }"),
    ],
)
def test_lines(line, result):
    """Values keep their equals signs and escaped commas; lines are trimmed; comments stay."""
    assert run("RemoveModifiers", line) == [result]
