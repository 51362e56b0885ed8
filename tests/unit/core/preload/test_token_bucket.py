"""Token buckets: a burst, then the refill rate."""

import pytest

from sluice.core.errors import TooManyRequests
from sluice.core.preload.rate_limits import Rate, TokenBucket, take_token

RATE = Rate("test", 3, 60)


def test_burst_and_refill():
    """A full bucket allows a burst; then one request for each 20 s, and the error names the seconds to wait."""
    bucket = None
    for _ in range(3):
        bucket = take_token(RATE, bucket, 100)
    assert bucket == TokenBucket(0, 100)
    with pytest.raises(TooManyRequests) as raised:
        take_token(RATE, bucket, 105)
    assert raised.value.retry_after_s == 15
    assert take_token(RATE, bucket, 120) == TokenBucket(0, 120)


def test_never_more_than_full():
    """A bucket that nobody used for long holds no more than its count, and a clock that went back takes no tokens."""
    assert take_token(RATE, TokenBucket(0, 0), 10_000) == TokenBucket(2, 10_000)
    assert take_token(RATE, TokenBucket(2, 100), 50) == TokenBucket(1, 50)
