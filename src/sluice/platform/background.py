"""Work that continues after the reply."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from pyodide.ffi import create_proxy

# The event loop holds only weak references to its tasks.
_RUNNING: Final[set[asyncio.Task[None]]] = set()


def run_in_background(ctx: Any, work: Coroutine[Any, Any, None]) -> None:
    """Start the work; `ctx` keeps the invocation alive until it ends, as long as the platform allows."""
    task = asyncio.ensure_future(work)
    proxy = create_proxy(task)
    _RUNNING.add(task)
    task.add_done_callback(_RUNNING.discard)
    task.add_done_callback(lambda _: proxy.destroy())
    ctx.waitUntil(proxy)
