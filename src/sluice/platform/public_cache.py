"""The cache in front of a Worker (Workers Cache), which keeps the replies that the Worker shares.

A config enables it with `[cache]`, and a hit runs no Python. Copies are purged by tag, and only from the entrypoint
that made them: another Worker, or an object, cannot. An account has about five purges a minute, so short lifetimes come
first.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from sluice.core.errors import Invalid, Unavailable
from sluice.platform.failures import translate_errors
from sluice.platform.values import split_into_chunks

# Of one purge; an account may make about five purges a minute (cache/how-to/purge-cache).
MAX_TAGS: Final = 100


class PublicCache:
    """Removes copies by their tags; `cache` is `ctx.cache`, or None where no cache is enabled."""

    def __init__(self, cache: Any, to_js: Callable[[dict[str, Any]], Any]) -> None:
        self._cache = cache
        self._to_js = to_js

    async def purge(self, tags: Iterable[str]) -> None:
        """Remove every copy that has one of the tags. Without a cache there are no copies."""
        unique = list(dict.fromkeys(tags))
        if not all(unique):
            raise Invalid("a cache tag is empty: name the copies to purge")
        if self._cache is None:
            return
        for some in split_into_chunks(unique, MAX_TAGS):
            with translate_errors("purge of the public cache"):
                result = await self._cache.purge(self._to_js({"tags": some}))
            if getattr(result, "success", True) is False:
                raise Unavailable(f"purge of the public cache: {_read_reason(result)}")


def open_public_cache(ctx: Any) -> PublicCache:
    """Return the cache of the entrypoint that `ctx` belongs to; no other entrypoint or Worker can purge it."""
    import js  # noqa: PLC0415 - purges are rare
    from pyodide.ffi import to_js  # noqa: PLC0415

    return PublicCache(
        getattr(ctx, "cache", None), lambda options: to_js(options, dict_converter=js.Object.fromEntries)
    )


def _read_reason(result: Any) -> str:
    messages = [str(error.message) for error in getattr(result, "errors", None) or ()]
    return "; ".join(messages) or "it was refused without a reason"
