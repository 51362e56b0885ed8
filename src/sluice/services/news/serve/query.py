"""The query parameters of the API: filters, search words and paging."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from sluice.core.news.published_article import PublishedArticle

_TERM: Final = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def _split_list(value: object) -> object:
    """Splits a list parameter, which may be repeated, separated by commas, or both."""
    items = value if isinstance(value, list) else [value]
    return [part.strip() for item in items for part in str(item).split(",") if part.strip()]


def _parse_start(value: object) -> object:
    """Parses a day or a time; without a zone it is UTC."""
    if not isinstance(value, str):
        return value
    # A plus sign that was not escaped arrives as a space.
    text = value.strip().replace(" ", "+") if "T" in value else value.strip()
    try:
        start = (
            datetime.combine(date.fromisoformat(text), time()) if _DAY.fullmatch(text) else datetime.fromisoformat(text)
        )
    except ValueError:
        raise ValueError("must be a date like 2026-11-16 or a time like 2026-11-16T08:00:00Z") from None
    return start if start.tzinfo else start.replace(tzinfo=UTC)


def _parse_end(value: object) -> object:
    """Parses a time, or a day, which counts until its end."""
    end = _parse_start(value)
    if isinstance(value, str) and isinstance(end, datetime) and _DAY.fullmatch(value.strip()):
        return end + timedelta(hours=23, minutes=59, seconds=59)
    return end


Names = Annotated[list[Annotated[str, Field(max_length=100)]], BeforeValidator(_split_list), Field(max_length=20)]
Start = Annotated[datetime, BeforeValidator(_parse_start)]
End = Annotated[datetime, BeforeValidator(_parse_end)]
Sentiments = Annotated[
    list[Literal["positive", "negative", "neutral"]], BeforeValidator(_split_list), Field(max_length=3)
]


class Filters(BaseModel):
    """Which articles to return; a day in `to` counts until its end."""

    model_config = ConfigDict(extra="forbid")

    sentiment: Annotated[Sentiments, Field(description="One or more, repeated or separated by commas.")] = []
    source: Annotated[Names, Field(description="Ids or names of sources, as for `sentiment`.")] = []
    language: Annotated[Names, Field(description="Languages, as for `sentiment`.")] = []
    status: Annotated[Literal["complete", "pending"], Field(description="Processed, or not yet.")] | None = None
    since: Start | None = Field(
        None, validation_alias=AliasChoices("from", "since"), description="Published then or later: a day or a time."
    )
    until: End | None = Field(
        None,
        validation_alias=AliasChoices("to", "until"),
        description="Published then or before; a day counts until its end.",
    )
    q: Annotated[str, Field(max_length=200, description='Words, "an exact phrase", and -words to exclude.')] = ""

    def select(self, articles: Iterable[PublishedArticle]) -> list[PublishedArticle]:
        tests = [*self._tests()]
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
        if self.q.strip():
            yield make_word_test(self.q)


class ListQuery(Filters):
    """A page of the list."""

    limit: Annotated[int, Field(ge=1, le=100, description="Stories on a page.")] = 20
    cursor: Annotated[str, Field(max_length=400, description="`next` of the page before.")] | None = None
    duplicates: Annotated[bool, Field(description="Return every article by itself, not grouped into stories.")] = False


class BucketQuery(Filters):
    """Counts by time of publication."""

    bucket: Annotated[Literal["hour", "day", "week"], Field(description="The length of a bucket.")] = "day"


class TrendQuery(Filters):
    """Trending terms."""

    hours: Annotated[int, Field(ge=1, le=720, description="How far back.")] = 24
    limit: Annotated[int, Field(ge=1, le=100, description="Terms at most.")] = 20


def make_word_test(q: str) -> Callable[[PublishedArticle], bool]:
    """Returns a test for all words in any order, for exact phrases in quotes, and without the words after a minus."""
    terms = [(minus == "-", (quoted or word).casefold()) for minus, quoted, word in _TERM.findall(q)]
    patterns = [(is_excluded, _pattern(text)) for is_excluded, text in terms if text.strip("-")]

    def test(item: PublishedArticle) -> bool:
        text = _searchable_text(item)
        return all((pattern.search(text) is None) is is_excluded for is_excluded, pattern in patterns)

    return test


def _pattern(text: str) -> re.Pattern[str]:
    """Matches from the beginning of a word, so that "mine" finds "miners"."""
    return re.compile(rf"(?<!\w){re.escape(text)}")


def _searchable_text(item: PublishedArticle) -> str:
    article = item.article
    parts = (article.title, article.description, article.text("aiSummary"), article.text("source_name"))
    return " ".join(parts).casefold()


def _sources(item: PublishedArticle) -> set[str]:
    return {item.article.text(name).lower() for name in ("source_id", "source_name")} - {""}


def _languages(item: PublishedArticle) -> set[str]:
    """Treats "english", as NewsData writes it, and "en" as the same."""
    language = item.article.text("language").lower()
    return {"en", "english"} if language in {"en", "english"} else {language}
