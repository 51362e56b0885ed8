"""What a run tells the state object of each source."""

from collections.abc import Mapping, Sequence

from sluice.core.news.article import Marks
from sluice.core.news.feeds.news_source import SourceResult
from sluice.services.news.collect.conditional_feeds import ConditionalFeeds, NotModified, Postponed
from sluice.services.news.collect.fetch_all import SourceResults
from sluice.services.news.state.remote_state import Outcome, SourceReport, UpdateReport


def is_failure(result: SourceResult) -> bool:
    """Return whether the source could not be read; one that has not changed, or asked to wait, is in order."""
    return result.error is not None and not isinstance(result.error, NotModified | Postponed)


def describe_outcome(result: SourceResult) -> Outcome:
    match result.error:
        case None:
            return "read"
        case NotModified():
            return "unchanged"
        case Postponed():
            return "postponed"
        case _:
            return "failed"


def build_report(
    results: SourceResults, feeds: ConditionalFeeds, listed: Mapping[str, Sequence[Marks]], *, has_surplus: bool
) -> UpdateReport:
    """Build the report of a run. Articles without room must be read again, so then the validators of the feeds are not stored."""
    sources = [_describe(name, result) for name, result in results]
    states = {} if has_surplus else {url: state.as_json() for url, state in feeds.found.items()}
    return UpdateReport(sources, states, listed)


def _describe(name: str, result: SourceResult) -> SourceReport:
    error = " ".join(str(result.error).split())[:300] if is_failure(result) else ""
    return {"name": name, "outcome": describe_outcome(result), "items": len(result.articles), "error": error}
