"""Times and durations."""

from sluice.core.timestamps import elapsed_ms


def test_a_duration_is_never_negative():
    """A clock that steps back gives no time, not less than none."""
    assert elapsed_ms(10.0, 10.25) == 250.0
    assert elapsed_ms(10.0, 9.997) == 0.0
