"""Purges of the cache in front of a Worker; what also holds in workerd is in the contract."""

import pytest

from fakes.public_cache import FakePublicCache
from sluice.core.errors import Invalid, Unavailable
from sluice.platform.public_cache import PublicCache


async def test_a_refused_purge_is_reported():
    """A purge that the platform refuses is an error that may be retried later, with the platform's reason."""
    with pytest.raises(Unavailable, match="rate limit exceeded"):
        await PublicCache(FakePublicCache(purges=0), dict).purge(["news"])


async def test_many_tags_are_few_purges():
    """Purges are scarce, so tags share one, and a tag that is named twice is sent once."""
    fake = FakePublicCache()
    await PublicCache(fake, dict).purge([*(f"tag-{number}" for number in range(100)), "tag-0"])
    assert len(fake.operations) == 1


async def test_without_a_cache_nothing_is_to_be_purged():
    """A Worker without a cache in front has no copies; an empty tag is a mistake there, too."""
    sent: list[object] = []
    await PublicCache(None, sent.append).purge(["news"])
    assert sent == []
    with pytest.raises(Invalid):
        await PublicCache(None, sent.append).purge([""])
