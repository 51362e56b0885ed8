"""What callers ask for: filters, words, a page."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Final, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from sluice.services.news.serve.snapshot import Item

_TERM: Final = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def _split(value: object) -> object:
    """Lists may be repeated, or have commas, or both."""
    items = value if isinstance(value, list) else [value]
    return [part.strip() for item in items for part in str(item).split(",") if part.strip()]


def _moment(value: object) -> object:
    """A day, or a moment; one without a zone is in UTC."""
    if not isinstance(value, str):
        return value
    # In a query, a plus that nobody escaped is a space.
    text = value.strip().replace(" ", "+") if "T" in value else value.strip()
    try:
        found = (
            datetime.combine(date.fromisoformat(text), time()) if _DAY.fullmatch(text) else datetime.fromisoformat(text)
        )
    except ValueError:
        raise ValueError("must be a date like 2026-11-16 or a time like 2026-11-16T08:00:00Z") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _end(value: object) -> object:
    """A day means all of it."""
    found = _moment(value)
    if isinstance(value, str) and isinstance(found, datetime) and _DAY.fullmatch(value.strip()):
        return found + timedelta(hours=23, minutes=59, seconds=59)
    return found


Names = Annotated[list[Annotated[str, Field(max_length=100)]], BeforeValidator(_split), Field(max_length=20)]
Start = Annotated[datetime, BeforeValidator(_moment)]
End = Annotated[datetime, BeforeValidator(_end)]
Sentiments = Annotated[list[Literal["positive", "negative", "neutral"]], BeforeValidator(_split), Field(max_length=3)]


class Filters(BaseModel):
    """Which articles; a day in `to` means all of it."""

    model_config = ConfigDict(extra="forbid")

    sentiment: Annotated[Sentiments, Field(description="One or more, repeated or with commas.")] = []
    source: Annotated[Names, Field(description="Ids or names of sources, as for `sentiment`.")] = []
    language: Annotated[Names, Field(description="Languages, as for `sentiment`.")] = []
    status: Annotated[Literal["complete", "pending"], Field(description="Processed, or not yet.")] | None = None
    since: Start | None = Field(
        None, validation_alias=AliasChoices("from", "since"), description="Published then or later: a day or a moment."
    )
    until: End | None = Field(
        None, validation_alias=AliasChoices("to", "until"), description="Published then or before; a day counts whole."
    )
    q: Annotated[str, Field(max_length=200, description='Words, "words in a row", and -words not to have.')] = ""

    def matching(self, items: Iterable[Item]) -> list[Item]:
        tests = [*self._tests()]
        return [item for item in items if all(test(item) for test in tests)]

    def _tests(self) -> Iterable[Callable[[Item], bool]]:
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
            yield words_test(self.q)


class ListQuery(Filters):
    """A page of them."""

    limit: Annotated[int, Field(ge=1, le=100, description="Stories on a page.")] = 20
    cursor: Annotated[str, Field(max_length=400, description="`next` of the page before.")] | None = None
    duplicates: Annotated[bool, Field(description="Every article by itself, not grouped into stories.")] = False


class BucketQuery(Filters):
    """Counts by time."""

    bucket: Annotated[Literal["hour", "day", "week"], Field(description="How long each one is.")] = "day"


class TrendQuery(Filters):
    """What is talked about."""

    hours: Annotated[int, Field(ge=1, le=720, description="How far back.")] = 24
    limit: Annotated[int, Field(ge=1, le=100, description="Terms at most.")] = 20


def words_test(q: str) -> Callable[[Item], bool]:
    """All words, in any order; "in quotes" as they stand, and -not at all."""
    terms = [(minus == "-", (quoted or word).casefold()) for minus, quoted, word in _TERM.findall(q)]
    wanted = [(unwanted, _pattern(text)) for unwanted, text in terms if text.strip("-")]

    def test(item: Item) -> bool:
        text = _searched(item)
        return all((pattern.search(text) is None) is unwanted for unwanted, pattern in wanted)

    return test


def _pattern(text: str) -> re.Pattern[str]:
    """From the beginning of a word, so that "mine" finds "miners"."""
    return re.compile(rf"(?<!\w){re.escape(text)}")


def _searched(item: Item) -> str:
    article = item.article
    parts = (article.title, article.description, article.text("aiSummary"), article.text("source_name"))
    return " ".join(parts).casefold()


def _sources(item: Item) -> set[str]:
    return {item.article.text(name).lower() for name in ("source_id", "source_name")} - {""}


def _languages(item: Item) -> set[str]:
    """NewsData spells it out."""
    found = item.article.text("language").lower()
    return {found, "en"} if found == "english" else {found, "english"} if found == "en" else {found}
