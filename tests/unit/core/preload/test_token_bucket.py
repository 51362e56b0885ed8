"""Token buckets: a burst, then the refill rate."""

import pytest

from sluice.core.errors import TooManyRequests
from sluice.core.preload.rate_limits import Bucket, Rate, take_token

RATE = Rate("test", 3, 60)


def test_burst_and_refill():
    """A full bucket allows a burst; then one request for each 20 s, and the error names the seconds to wait."""
    bucket = None
    for _ in range(3):
        bucket = take_token(RATE, bucket, 100)
    assert bucket == Bucket(0, 100)
    with pytest.raises(TooManyRequests) as raised:
        take_token(RATE, bucket, 105)
    assert raised.value.retry_after_s == 15
    assert take_token(RATE, bucket, 120) == Bucket(0, 120)


def test_never_more_than_full():
    """A bucket that nobody used for long holds no more than its count, and a clock that went back takes no tokens."""
    assert take_token(RATE, Bucket(0, 0), 10_000) == Bucket(2, 10_000)
    assert take_token(RATE, Bucket(2, 100), 50) == Bucket(1, 50)
