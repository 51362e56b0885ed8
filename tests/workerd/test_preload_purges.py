"""Purges in workerd: two instances with memories of their own, the limits of the free plan, and kill -9 in the middle."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from purges import Site, kill_repeatedly, origin, purge_many, start, visit_twins
from runtime import Runtime


@pytest.fixture(name="site", scope="module")
def _site() -> Iterator[Site]:
    with origin() as site:
        yield site


@pytest.fixture(name="free")
def _free(tmp_path: Path) -> Iterator[Runtime]:
    runtime = start(tmp_path, "--limits", "free")
    yield runtime
    runtime.kill()


def test_purged_each_second(free: Runtime, site: Site):
    """Nobody sees content from before the last purge that holds, whichever instance answers, and the origin is asked seldom."""
    pages = 10
    watch, requests = visit_twins(free, site, seconds=8, visitors=20, pages=pages)
    assert watch.purges
    assert watch.hits > 0
    assert watch.too_old == 0, f"{watch.too_old} of {watch.visits} visits, the worst {watch.worst_s:.2f} s late"
    # Each instance asks for each page once before the first purge and once after each.
    assert requests <= pages * (watch.sent + 1) * 2


def test_many_pages(free: Runtime, site: Site):
    """60 pages are more than one invocation of the free plan can remove: all go, and nothing is stuck."""
    result = purge_many(free, site, 60)
    assert result["removed"] >= 60
    assert result["left"] == 0


def test_killed_again_and_again(free: Runtime, site: Site):
    """Killed while a sitemap is read, pages are warmed and purged: every page ends with its newest content."""
    result = kill_repeatedly(free, site, pages=30, kills=4)
    assert (result["lost"], result["newest"], result["dead letters"]) == (0, 30, 0)
