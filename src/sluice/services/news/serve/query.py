"""The query parameters of the API: filters, search words and paging."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal, Self

from sluice.core.news.article import Sentiment
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.topics.tags import TAGS
from sluice.services.news.serve.search import Search
from sluice.web import Request
from sluice.web.parameters import (
    Parameter,
    Query,
    QueryValues,
    check_length,
    choice,
    choices,
    flag,
    integer,
    items,
    parsed,
    text,
)

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_SHARE: Final = re.compile(r"0(?:\.\d{1,6})?|1(?:\.0{1,6})?")
_MAX_NAMES: Final = 20
_MAX_MS_DIGITS: Final = 15
DEFAULT_LIMIT: Final = 20


Status = Literal["complete", "pending"]
Sort = Literal["relevance", "newest"]
Bucket = Literal["hour", "day", "week"]

SENTIMENTS: Final[tuple[Sentiment, ...]] = ("positive", "negative", "neutral", "unknown")
STATUSES: Final[tuple[Status, ...]] = ("complete", "pending")
SORTS: Final[tuple[Sort, ...]] = ("relevance", "newest")
BUCKETS: Final[tuple[Bucket, ...]] = ("hour", "day", "week")


def parse_start(value: str) -> datetime:
    """Parse a day or a time; without a zone it is UTC."""
    # A plus sign that was not escaped arrives as a space.
    text = value.strip().replace(" ", "+") if "T" in value else value.strip()
    try:
        start = (
            datetime.combine(date.fromisoformat(text), time()) if _DAY.fullmatch(text) else datetime.fromisoformat(text)
        )
    except ValueError:
        raise ValueError("must be a date like 2026-11-16 or a time like 2026-11-16T08:00:00Z") from None
    return start if start.tzinfo else start.replace(tzinfo=UTC)


def parse_share(value: str) -> float:
    """Parse a number from 0 to 1."""
    text = value.strip()
    if _SHARE.fullmatch(text) is None:
        raise ValueError("must be a number from 0 to 1, such as 0.5")
    return float(text)


def parse_change_time(value: str) -> int:
    """Parse a time, or the milliseconds since 1970 that a reply has named."""
    text = value.strip()
    if text.isascii() and text.isdigit() and len(text) <= _MAX_MS_DIGITS:
        return int(text)
    return int(parse_start(value).timestamp() * 1000)


def parse_end(value: str) -> datetime:
    """Parse a time, or a day, which counts until its end."""
    end = parse_start(value)
    return end + timedelta(hours=23, minutes=59, seconds=59) if _DAY.fullmatch(value.strip()) else end


def _check_name(text: str) -> str:
    return check_length(text, max_chars=100)


_NAME: Final = {"type": "string", "maxLength": 100}
_TIME: Final = {"type": "string", "format": "date-time"}

SENTIMENT: Final = choices(
    "sentiment", SENTIMENTS, max_items=len(SENTIMENTS), about="One or more, repeated or separated by commas."
)
SOURCE: Final = items(
    "source", _check_name, schema=_NAME, max_items=_MAX_NAMES, about="Ids or names of sources, as for `sentiment`."
)
LANGUAGE: Final = items(
    "language", _check_name, schema=_NAME, max_items=_MAX_NAMES, about="Languages, as for `sentiment`."
)
STATUS: Final = choice("status", STATUSES, about="Processed, or not yet.")
SINCE: Final = parsed(
    "from", "since", parse=parse_start, schema=_TIME, about="Published then or later: a day or a time."
)
UNTIL: Final = parsed(
    "to", "until", parse=parse_end, schema=_TIME, about="Published then or before; a day counts until its end."
)
Q: Final = text(
    "q", max_chars=200, about='Words in any form, one OR another, "an exact phrase", and -words to exclude.'
)
CHANGED_AFTER: Final = parsed(
    "changed_after", parse=parse_change_time, schema={"type": "integer"}, about="Changed later than this."
)
TAG: Final = choices("tag", TAGS, max_items=_MAX_NAMES, about="One of these tags or more, as for `sentiment`.")
ENTITY: Final = items(
    "entity", _check_name, schema=_NAME, max_items=_MAX_NAMES, about="Names as in `entities`, as for `sentiment`."
)
FILTERS: Final = (SENTIMENT, SOURCE, LANGUAGE, STATUS, SINCE, UNTIL, Q, CHANGED_AFTER, TAG, ENTITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleFilters:
    """Which articles to return; a day in `until` counts until its end."""

    sentiment: tuple[Sentiment, ...] = ()
    source: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    status: Status | None = None
    since: datetime | None = None
    until: datetime | None = None
    q: str = ""
    changed_after: int | None = None
    tag: tuple[str, ...] = ()
    entity: tuple[str, ...] = ()

    @classmethod
    def read(cls, given: QueryValues) -> Self:
        return cls(
            sentiment=given[SENTIMENT],
            source=given[SOURCE],
            language=given[LANGUAGE],
            status=given[STATUS],
            since=given[SINCE],
            until=given[UNTIL],
            q=given[Q] or "",
            changed_after=given[CHANGED_AFTER],
            tag=given[TAG],
            entity=given[ENTITY],
        )

    @property
    def search(self) -> Search | None:
        """What is searched for; None if nothing is."""
        return Search.parse(self.q) if self.q.strip() else None

    def select(self, articles: Iterable[PublishedArticle]) -> list[PublishedArticle]:
        tests = [*self._tests(), *self._further_tests()]
        return [article for article in articles if all(test(article) for test in tests)]

    def _tests(self) -> Iterable[Callable[[PublishedArticle], bool]]:
        sentiments = set(self.sentiment)
        sources = {name.lower() for name in self.source}
        languages = {name.lower() for name in self.language}
        if sentiments:
            yield lambda item: item.article.sentiment in sentiments
        if sources:
            yield lambda item: bool(sources & _sources(item))
        if languages:
            yield lambda item: bool(languages & _languages(item))
        if self.status:
            yield lambda item: item.is_complete is (self.status == "complete")
        if (since := self.since) is not None:
            yield lambda item: item.published >= since
        if (until := self.until) is not None:
            yield lambda item: item.published <= until

    def _further_tests(self) -> Iterable[Callable[[PublishedArticle], bool]]:
        if (changed_after := self.changed_after) is not None:
            yield lambda item: item.article.number("changedAt") > changed_after
        if tags := set(self.tag):
            yield lambda item: bool(tags.intersection(item.list_terms("tags")))
        if entities := {name.casefold() for name in self.entity}:
            yield lambda item: any(name.casefold() in entities for name in item.list_terms("entities"))
        if search := self.search:
            yield lambda item: search.weigh(item) > 0


LIMIT: Final = integer("limit", DEFAULT_LIMIT, minimum=1, maximum=100, about="Stories on a page.")
CURSOR: Final = text("cursor", max_chars=400, about="`next` of the page before.")
DUPLICATES: Final = flag("duplicates", about="Return every article by itself, not grouped into stories.")
SORT: Final = choice("sort", SORTS, about="By relevance and recency, which is the default of a search, or by time.")
MIN_IMPORTANCE: Final = parsed(
    "min_importance",
    parse=parse_share,
    schema={"type": "number", "minimum": 0, "maximum": 1, "default": 0.0},
    about="The least `importance` of a story.",
)
LISTING: Final = Query(*FILTERS, LIMIT, CURSOR, DUPLICATES, SORT, MIN_IMPORTANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """A page of the list."""

    filters: ArticleFilters
    limit: int
    cursor: str | None
    duplicates: bool
    # None: by relevance if there is a search, else the newest first.
    sort: Sort | None = None
    min_importance: float = 0.0

    @classmethod
    def read(cls, request: Request) -> Self:
        given = LISTING.read(request)
        return cls(
            filters=ArticleFilters.read(given),
            limit=given[LIMIT],
            cursor=given[CURSOR],
            duplicates=given[DUPLICATES],
            sort=given[SORT],
            min_importance=given[MIN_IMPORTANCE] or 0.0,
        )


BUCKET: Final[Parameter[Bucket]] = Parameter(
    "bucket",
    lambda query: query.choice("bucket", BUCKETS) or "day",
    {"type": "string", "enum": list(BUCKETS), "default": "day"},
    "The length of a bucket.",
)
COUNTING: Final = Query(*FILTERS, BUCKET)


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketQuery:
    """Counts by time of publication."""

    filters: ArticleFilters
    bucket: Bucket

    @classmethod
    def read(cls, request: Request) -> Self:
        given = COUNTING.read(request)
        return cls(filters=ArticleFilters.read(given), bucket=given[BUCKET])


HOURS: Final = integer("hours", 24, minimum=1, maximum=720, about="How far back.")
MAX_TERMS: Final = integer("limit", 20, minimum=1, maximum=100, about="Terms at most.")
TRENDS: Final = Query(*FILTERS, HOURS, MAX_TERMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendQuery:
    """Trending terms of the last hours."""

    filters: ArticleFilters
    hours: int
    limit: int

    @classmethod
    def read(cls, request: Request) -> Self:
        given = TRENDS.read(request)
        return cls(filters=ArticleFilters.read(given), hours=given[HOURS], limit=given[MAX_TERMS])


def _sources(item: PublishedArticle) -> set[str]:
    return {item.article.text(name).lower() for name in ("source_id", "source_name")} - {""}


def _languages(item: PublishedArticle) -> set[str]:
    """Treat "english", as NewsData writes it, and "en" as the same."""
    language = item.article.text("language").lower()
    return {"en", "english"} if language in {"en", "english"} else {language}
