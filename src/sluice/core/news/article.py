"""One article as it is stored: a JSON object whose unknown members are kept. Every change returns a copy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, NotRequired, Self, TypedDict, cast

from sluice.core.doc import Doc, other_members

Sentiment = Literal["positive", "negative", "neutral", "unknown"]
SENTIMENTS: Final = ("positive", "negative", "neutral")
# What the embedded analyst says of a language that it does not know.
UNKNOWN: Final = "unknown"

# Members that processing adds. `reset` removes them all.
_PROCESSING_MEMBERS: Final = (
    *("sentiment", "sentimentBy", "sentimentAt", "sentimentAttempts", "sentimentError"),
    *("sentimentScore", "sentimentConfidence"),
    *("aiSummary", "summaryBy", "summaryAt", "summaryError", "contentTimeout", "extractedContent", "pageTitle"),
    *("processedAt", "inProgressSince", "secondLook"),
)

# An article is stored under "article:" and its id; a key of KV has 512 bytes.
MAX_ID_BYTES: Final = 512 - len("article:")
Milliseconds = Annotated[int, Doc("Milliseconds since 1970.")]
# What an article is known by, as it is stored: the members of its Fingerprint, in their order.
Marks = Sequence[str | int]
# What stands in a text for bytes that are not UTF-8.
_REPLACEMENT: Final = "\ufffd"


def is_article_id(value: object) -> bool:
    """Return whether an article can be stored under this id."""
    if not isinstance(value, str) or not value or _REPLACEMENT in value:
        return False
    try:
        return len(value.encode()) <= MAX_ID_BYTES
    except UnicodeEncodeError:
        return False


class Stage(StrEnum):
    """What an article needs next, in this order."""

    SENTIMENT = "sentiment"
    CONTENT = "content"
    SUMMARY = "summary"
    COMPLETE = "complete"


STAGES: Final = tuple(Stage)


@other_members(allowed=True)
class StoredArticle(TypedDict):
    """An article as it is stored: all members of its source, and the state of its processing."""

    id: str
    title: str
    description: NotRequired[str]
    link: str
    pubDate: NotRequired[str]
    needsSentiment: bool
    needsSummary: bool


@dataclass(frozen=True, slots=True)
class Article:
    """One article as it is stored. `data` is what is stored; the properties read the members that the news service needs."""

    data: Mapping[str, Any]

    @classmethod
    def from_json(cls, article_id: str, value: object) -> Self | None:
        """Read a stored value, also in the older formats without id or flags; None if it is not an object."""
        if not isinstance(value, Mapping):
            return None
        complete = bool(value.get("processedAt")) or "sentiment" in value
        flags = {
            "needsSentiment": value.get("needsSentiment", not value.get("sentiment")),
            "needsSummary": value.get("needsSummary", not complete and not value.get("aiSummary")),
        }
        return cls({**value, **flags, "id": article_id})

    def as_json(self) -> StoredArticle:
        return cast("StoredArticle", dict(self.data))

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def title(self) -> str:
        return self.text("title")

    @property
    def description(self) -> str:
        return self.text("description")

    @property
    def link(self) -> str:
        return self.text("link")

    @property
    def content(self) -> str:
        return self.text("extractedContent")

    @property
    def page_titles(self) -> list[str]:
        """The titles that the page gives itself."""
        return self.text("pageTitle").splitlines()

    @property
    def sentiment(self) -> Sentiment | None:
        value: Sentiment | None = self.data.get("sentiment")
        return value if value in (*SENTIMENTS, UNKNOWN) else None

    @property
    def stage(self) -> Stage:
        if self.data.get("needsSentiment"):
            return Stage.SENTIMENT
        if not self.data.get("needsSummary"):
            return Stage.COMPLETE
        return Stage.SUMMARY if self.content else Stage.CONTENT

    @property
    def attempts(self) -> int:
        """How many attempts at the current stage have started."""
        return self.number(self._attempts_member)

    @property
    def last_error(self) -> str:
        """The stored reason why the last attempt at the current stage failed; "" if there is none."""
        return self.text(self._error_member)

    @property
    def is_in_progress(self) -> bool:
        """Whether an attempt started and its end is not recorded: a run is working on it, or crashed."""
        return bool(self.data.get("inProgressSince"))

    @property
    def _attempts_member(self) -> str:
        # Content and summary share one counter; its stored name is historical.
        return "sentimentAttempts" if self.stage is Stage.SENTIMENT else "contentTimeout"

    @property
    def _error_member(self) -> str:
        return "sentimentError" if self.stage is Stage.SENTIMENT else "summaryError"

    def text(self, name: str) -> str:
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        value = self.data.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    def with_members(self, **changes: object) -> Self:
        """Return a copy with some members changed; None removes a member."""
        merged = {**self.data, **changes}
        return type(self)({name: value for name, value in merged.items() if value is not None or name not in changes})

    def is_further_than(self, other: "Article") -> bool:
        """Return whether this copy has passed more stages."""
        return STAGES.index(self.stage) > STAGES.index(other.stage)

    def begin_attempt(self, now_ms: int) -> Self:
        """Count an attempt before it is made, so that an article that crashes the run is not retried forever."""
        return self.with_members(**{self._attempts_member: self.attempts + 1, "inProgressSince": now_ms})

    def with_sentiment(self, sentiment: str, by: str, now_ms: int) -> Self:
        return self.with_members(
            sentiment=sentiment,
            sentimentBy=by,
            sentimentAt=now_ms,
            needsSentiment=False,
            sentimentAttempts=None,
            sentimentError=None,
            inProgressSince=None,
        ).stamp_if_complete(now_ms)

    def with_content(self, content: str, page_title: str = "") -> Self:
        """Store the page's text and title. The attempt counter restarts for the summary."""
        return self.with_members(
            extractedContent=content,
            pageTitle=page_title or None,
            contentTimeout=None,
            summaryError="scraping_complete",
            inProgressSince=None,
        )

    def with_summary(self, summary: str, by: str, now_ms: int) -> Self:
        return self.with_members(aiSummary=summary, summaryBy=by, summaryAt=now_ms, summaryError=None).close(now_ms)

    def with_feed_text(self, text: str, error: str, now_ms: int) -> Self:
        """Complete the article with the text of its feed in place of a summary, and the reason."""
        return self.with_members(aiSummary=text, summaryBy="feed", summaryAt=now_ms, summaryError=error).close(now_ms)

    def without_summary(self, error: str, now_ms: int) -> Self:
        """Complete the article with an empty summary and the reason."""
        return self.with_members(aiSummary="", summaryError=error).close(now_ms)

    def without_sentiment(self, error: str, now_ms: int) -> Self:
        """End the sentiment stage with an empty sentiment and the reason."""
        return self.with_members(
            sentiment="",
            sentimentError=error,
            needsSentiment=False,
            sentimentAttempts=None,
            inProgressSince=None,
        ).stamp_if_complete(now_ms)

    def with_error(self, error: str) -> Self:
        """Stay at the same stage and store why the attempt failed."""
        return self.with_members(**{self._error_member: error}, inProgressSince=None)

    def reset(self) -> Self:
        """Return the article as it was before any processing."""
        removed: dict[str, object] = dict.fromkeys(_PROCESSING_MEMBERS)
        return self.with_members(**removed, needsSentiment=True, needsSummary=True)

    def close(self, now_ms: int) -> Self:
        """End the summary stage and remove the members that only the stages needed."""
        closed = self.with_members(
            needsSummary=False, extractedContent=None, pageTitle=None, contentTimeout=None, inProgressSince=None
        )
        return closed.stamp_if_complete(now_ms)

    def stamp_if_complete(self, now_ms: int) -> Self:
        """Add the time of completion to an article that is complete."""
        return self.with_members(processedAt=now_ms) if self.stage is Stage.COMPLETE else self
