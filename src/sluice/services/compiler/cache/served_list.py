"""A list in the form the caller asked for, and how it was obtained."""

from dataclasses import dataclass, replace
from typing import Literal

from sluice.services.compiler.cache.compiled_list import (
    FRESH_HEAD,
    SHARED_HEAD,
    CompressedList,
    GzippedList,
    ListSummary,
)
from sluice.services.compiler.cache.list_cache import ListCache

ListForm = Literal["json", "text", "summary"]
# From the cache, compiled for this request, or compiled for another request at the same time.
ListOrigin = Literal["cached", "fresh", "shared"]


@dataclass(frozen=True, slots=True)
class ServedList:
    """A list in one form, and how it was obtained. `file` is None in the form "summary", and after a remote call if it is too large to be carried."""

    summary: ListSummary
    origin: ListOrigin
    file: GzippedList | None = None

    @classmethod
    def from_compiled(cls, compiled: CompressedList, form: ListForm, origin: ListOrigin) -> "ServedList":
        summary = compiled.summary
        match form:
            case "json":
                head = FRESH_HEAD if origin == "fresh" else SHARED_HEAD
                return cls(summary, origin, GzippedList.assemble(summary, compiled.members, head))
            case "text":
                return cls(summary, origin, GzippedList.assemble(summary, compiled.text))
            case "summary":
                return cls(summary, origin)


async def find_cached(cache: ListCache, key: str, form: ListForm) -> ServedList | None:
    """Return what the cache holds in this form."""
    file = await (cache.find_text(key) if form == "text" else cache.find_reply(key))
    if file is None:
        return None
    summary = replace(file.summary, cached=True)
    return ServedList(summary, "cached", None if form == "summary" else file)
