"""Settings are read with defaults, and every mistake is named at once."""

import pytest

from sluice.core.errors import ConfigError
from sluice.core.variables import Variables


def test_defaults():
    """What is not set, or set to nothing, is its default."""
    variables = Variables({"EMPTY": " "}.get)
    assert variables.text("EMPTY", "x") == "x"
    assert variables.integer("N", 7, minimum=1) == 7
    assert variables.url("U") == ""
    variables.check()


def test_all_mistakes_at_once():
    """One error names every variable that does not fit, and why."""
    variables = Variables({"N": "ten", "M": "0", "U": "ftp://x"}.get)
    variables.integer("N", 1, minimum=1)
    variables.integer("M", 1, minimum=1)
    variables.url("U")
    with pytest.raises(ConfigError, match=r"N must be .*'ten'; M must be .*'0'; U must start"):
        variables.check()


@pytest.mark.parametrize("raw", ["-1", "1.5", "\u0661", "99999999999", "1_0"])
def test_not_a_number(raw: str):
    """Only plain digits within the limits are a number."""
    variables = Variables({"N": raw}.get)
    assert variables.integer("N", 3, minimum=0) == 3
    with pytest.raises(ConfigError, match="N must be"):
        variables.check()
