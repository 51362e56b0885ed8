"""A compilation of the service: how it downloads its sources, and what it records."""

from typing import Any

import pytest

from fakes.clock import ManualClock
from sluice import __version__
from sluice.core.compiler.events import ignore_event
from sluice.core.errors import Unusable
from sluice.core.ports import FetchResponse
from sluice.services.compiler.cache.list_compiler import LIMITS, SOURCE_TIMEOUT_S, compiler_factory, ignore_diagnostic
from unit.services.compiler.world import URL, World, configuration


async def test_sources_are_downloaded_within_limits():
    """A source is fetched with the service's User-Agent, size limit and timeout."""
    calls: list[dict[str, Any]] = []

    async def fetch(url: str, **options: Any) -> FetchResponse:
        calls.append({"url": url, **options})
        if sink := options.get("sink"):
            sink(b"||ads.example^\n")
        return FetchResponse(url, 200, (), b"||ads.example^\n")

    make_compiler = compiler_factory(fetch, ManualClock(), lambda: 0.0)
    result = await make_compiler(ignore_event, ignore_diagnostic).compile_with_metrics(configuration())
    assert result.rules[-1] == "||ads.example^"
    [call] = calls
    assert call["url"] == URL
    assert call["headers"] == (("User-Agent", f"sluice/{__version__}"),)
    assert (call["max_bytes"], call["timeout_s"]) == (LIMITS.source_bytes, SOURCE_TIMEOUT_S)


async def test_success_is_recorded():
    """A row, a data point, a count and a log line say what asked for the list."""
    world = World()
    await world.compiler.compile(configuration(), trigger="stream")
    [row] = await world.database.all("select * from compilation_metadata")
    assert (row["path"], row["success"], row["error"]) == ("stream", 1, None)
    assert world.points.written == ["compilation_success"]
    assert world.counts["compilations", "success"] == 1
    assert "compilation.done" in world.log.names()


async def test_failure_is_recorded():
    """A failure is recorded with its reason and raised."""
    world = World({URL: Unusable("gone")})
    with pytest.raises(Unusable, match="gone"):
        await world.compiler.compile(configuration(), trigger="queue")
    [row] = await world.database.all("select * from compilation_metadata")
    assert (row["path"], row["success"]) == ("queue", 0)
    assert "gone" in str(row["error"])
    assert world.points.written == ["compilation_error"]
