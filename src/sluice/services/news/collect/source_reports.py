"""What a run tells the state object of each source."""

from collections.abc import Mapping
from typing import Any

from sluice.core.json_text import encode_json
from sluice.core.news.feeds.source import SourceResult
from sluice.services.news.collect.conditional import ConditionalFeeds, NotModified, Postponed
from sluice.services.news.collect.fetch_all import SourceResults


def is_failure(result: SourceResult) -> bool:
    """Whether the source could not be read; one that has not changed, or asked to wait, is in order."""
    return result.error is not None and not isinstance(result.error, NotModified | Postponed)


def describe_outcome(result: SourceResult) -> str:
    match result.error:
        case None:
            return "read"
        case NotModified():
            return "unchanged"
        case Postponed():
            return "postponed"
        case _:
            return "failed"


def encode_report(
    results: SourceResults, feeds: ConditionalFeeds, listed: Mapping[str, Any], *, has_surplus: bool
) -> str:
    """Articles without room must be read again, so then the validators of the feeds are not stored."""
    sources = [_describe(name, result) for name, result in results]
    states = {} if has_surplus else {url: state.as_json() for url, state in feeds.found.items()}
    return encode_json({"sources": sources, "feeds": states, "listed": listed})


def _describe(name: str, result: SourceResult) -> dict[str, Any]:
    error = " ".join(str(result.error).split())[:300] if is_failure(result) else ""
    return {"name": name, "outcome": describe_outcome(result), "items": len(result.articles), "error": error}
