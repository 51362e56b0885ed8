"""One article as it is stored: a JSON object whose unknown members are kept, read leniently, changed by copying."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

SENTIMENTS: Final = ("positive", "negative", "neutral")


class Stage(StrEnum):
    """What an article needs next, in this order."""

    SENTIMENT = "sentiment"
    CONTENT = "content"
    SUMMARY = "summary"
    COMPLETE = "complete"


STAGES: Final = tuple(Stage)


@dataclass(frozen=True, slots=True)
class Article:
    """Properties read the members that the pipeline needs; `data` is what is stored."""

    data: Mapping[str, Any]

    @classmethod
    def stored(cls, article_id: str, data: object) -> Self | None:
        """From a stored value, also of the older formats, which lack the id or the flags; None if it is no object."""
        if not isinstance(data, Mapping):
            return None
        complete = bool(data.get("processedAt")) or "sentiment" in data
        flags = {
            "needsSentiment": data.get("needsSentiment", not data.get("sentiment")),
            "needsSummary": data.get("needsSummary", not complete and not data.get("aiSummary")),
        }
        return cls({**data, **flags, "id": article_id})

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
    def sentiment(self) -> str | None:
        found = self.data.get("sentiment")
        return found if found in SENTIMENTS else None

    @property
    def stage(self) -> Stage:
        if self.data.get("needsSentiment"):
            return Stage.SENTIMENT
        if not self.data.get("needsSummary"):
            return Stage.COMPLETE
        return Stage.SUMMARY if self.content else Stage.CONTENT

    @property
    def attempts(self) -> int:
        """How often the present stage was begun: for the summary and its content `contentTimeout`, as it was named."""
        return self.number("sentimentAttempts" if self.stage is Stage.SENTIMENT else "contentTimeout")

    @property
    def begun(self) -> bool:
        """Whether the present stage was begun and its end not noted: a run is at it, or died at it."""
        return bool(self.data.get("inProgressSince"))

    def text(self, name: str) -> str:
        found = self.data.get(name)
        return found if isinstance(found, str) else ""

    def number(self, name: str) -> int:
        found = self.data.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) else 0

    def having(self, **changes: object) -> Self:
        """A copy with members changed; those set to None are left out."""
        merged = {**self.data, **changes}
        return type(self)({name: value for name, value in merged.items() if value is not None or name not in changes})

    def further_than(self, other: "Article") -> bool:
        """Whether it has passed more stages."""
        return STAGES.index(self.stage) > STAGES.index(other.stage)

    def beginning(self, now_ms: int) -> Self:
        """One more attempt at the present stage, noted before it is made: whoever dies of it is not tried for ever."""
        counter = "sentimentAttempts" if self.stage is Stage.SENTIMENT else "contentTimeout"
        return self.having(**{counter: self.attempts + 1, "inProgressSince": now_ms})

    def with_sentiment(self, sentiment: str, by: str, now_ms: int) -> Self:
        return self.having(
            sentiment=sentiment,
            sentimentBy=by,
            sentimentAt=now_ms,
            needsSentiment=False,
            sentimentAttempts=None,
            sentimentError=None,
            inProgressSince=None,
        ).dated(now_ms)

    def with_content(self, content: str) -> Self:
        """The count starts anew: success at the last attempt is success."""
        return self.having(
            extractedContent=content, contentTimeout=None, summaryError="scraping_complete", inProgressSince=None
        )

    def with_summary(self, summary: str, by: str, now_ms: int) -> Self:
        return self.having(aiSummary=summary, summaryBy=by, summaryAt=now_ms, summaryError=None).closed(now_ms)

    def without_summary(self, error: str, now_ms: int) -> Self:
        """Complete, with an empty summary and the reason."""
        return self.having(aiSummary="", summaryError=error).closed(now_ms)

    def without_sentiment(self, error: str, now_ms: int) -> Self:
        return self.having(
            sentiment="",
            sentimentError=error,
            needsSentiment=False,
            sentimentAttempts=None,
            inProgressSince=None,
        ).dated(now_ms)

    def failing(self, error: str) -> Self:
        """Still at the same stage, with what went wrong."""
        name = "sentimentError" if self.stage is Stage.SENTIMENT else "summaryError"
        return self.having(**{name: error}, inProgressSince=None)

    def restarted(self) -> Self:
        """As if nothing had been done for it yet."""
        gone = ("sentiment", "sentimentBy", "sentimentAt", "sentimentAttempts", "sentimentError", "aiSummary")
        also = ("summaryBy", "summaryAt", "summaryError", "contentTimeout", "extractedContent", "processedAt")
        cleared: dict[str, object] = dict.fromkeys((*gone, *also, "inProgressSince"))
        return self.having(**cleared, needsSentiment=True, needsSummary=True)

    def closed(self, now_ms: int) -> Self:
        """Without what only the way to the summary needed."""
        return self.having(needsSummary=False, extractedContent=None, contentTimeout=None, inProgressSince=None).dated(
            now_ms
        )

    def dated(self, now_ms: int) -> Self:
        """With the time of its completion, once it is complete."""
        return self.having(processedAt=now_ms) if self.stage is Stage.COMPLETE else self
