"""Variables are read with defaults, and one error names every mistake."""

import pytest

from sluice.core.errors import ConfigError
from sluice.core.variables import Variables


def test_defaults():
    """A variable that is not set, or empty, has its default."""
    variables = Variables({"EMPTY": " "}.get)
    assert variables.text("EMPTY", "x") == "x"
    assert variables.integer("N", 7, minimum=1) == 7
    assert variables.url("U") == ""
    variables.check()


def test_all_mistakes_at_once():
    """One error names every wrong variable and the reason."""
    variables = Variables({"N": "ten", "M": "0", "U": "ftp://x"}.get)
    variables.integer("N", 1, minimum=1)
    variables.integer("M", 1, minimum=1)
    variables.url("U")
    with pytest.raises(ConfigError, match=r"N must be .*'ten'; M must be .*'0'; U must start"):
        variables.check()


@pytest.mark.parametrize("raw", ["-1", "1.5", "\u0661", "99999999999", "1_0"])
def test_not_a_number(raw: str):
    """Only plain digits within the limits are accepted as a number."""
    variables = Variables({"N": raw}.get)
    assert variables.integer("N", 3, minimum=0) == 3
    with pytest.raises(ConfigError, match="N must be"):
        variables.check()


def test_choice():
    """One of a few words; the first is the default, and another is a mistake that names them all."""
    variables = Variables({"A": "all", "B": "none"}.get)
    assert [variables.choice(name, ("failures", "all")) for name in ("A", "C")] == ["all", "failures"]
    variables.check()
    variables.choice("B", ("failures", "all"))
    with pytest.raises(ConfigError, match="B must be failures or all, not 'none'"):
        variables.check()
