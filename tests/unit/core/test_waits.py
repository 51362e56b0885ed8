"""Waits by a clock that may be set back."""

import pytest

from sluice.core.waits import clamp_wait, is_waiting

DAY_S = 86_400.0


@pytest.mark.parametrize("back_s", [0.0, 1.0, DAY_S])
def test_clamped(back_s: float):
    """A stored wait lasts at most as long as one that begins now."""
    assert clamp_wait(1030.0, 1000.0 - back_s, 30.0) == 1030.0 - back_s
    assert clamp_wait(1005.0, 1000.0, 30.0) == 1005.0


def test_is_waiting():
    """A remembered wait goes on until its end; one that is longer than any that could begin now is over."""
    assert is_waiting(1030.0, 1000.0, 30.0)
    assert not is_waiting(1030.0, 1030.0, 30.0)
    assert not is_waiting(1030.0, 1000.0 - DAY_S, 30.0)
    assert not is_waiting(0.0, 1000.0, 30.0)
