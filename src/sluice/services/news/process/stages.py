"""The three stages of an article's way: what is asked of the outside, and what its answer makes of the article."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from sluice.core.errors import SluiceError
from sluice.core.news.analysts import Analyst, Mismatch
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint import Outcome

MAX_REASON_CHARS: Final = 120

NowMs = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Result:
    """An attempt's end; `interim` is stored before the article itself when its attempts have run out."""

    article: Article
    outcome: Outcome
    reason: str = ""
    interim: Article | None = None


class Scrape(Protocol):
    """Brings the text behind a link; a SluiceError tells why there is none and whether to try again."""

    async def __call__(self, url: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """`analyst` is asked first; when its attempts have run out, `reserve` speaks once."""

    analyst: Analyst
    reserve: Analyst
    scrape: Scrape
    max_attempts: int

    async def perform(self, article: Article, now_ms: NowMs) -> Result:
        """One attempt at the article's stage, which is already counted."""
        return await _STAGES[article.stage](self, article, now_ms)

    async def sentiment(self, article: Article, now_ms: NowMs) -> Result:
        analyst = self._speaking(article.attempts)
        if analyst is None:
            error = article.text("sentimentError") or "max_retries_reached"
            return Result(article.without_sentiment(error, now_ms()), Outcome.GIVEN_UP, error)
        try:
            verdict = await analyst.sentiment(article.title, article.description)
        except SluiceError as error:
            reason = self._told("ai_error", error, article)
            return Result(article.failing(reason), Outcome.FAILED, reason)
        return Result(article.with_sentiment(verdict, analyst.name, now_ms()), Outcome.DONE)

    async def content(self, article: Article, now_ms: NowMs) -> Result:
        if not article.link:
            return Result(article.without_summary("no_link", now_ms()), Outcome.GIVEN_UP, "no_link")
        if article.attempts > self.max_attempts:
            # The last attempt was begun, and whoever made it did not live to tell.
            return self._given_up(article.failing(article.text("summaryError") or "fetch_failed"), now_ms())
        try:
            text = await self.scrape(article.link)
        except SluiceError as error:
            reason = self._told("fetch_failed", error, article)
            if not error.retryable:
                return Result(article.without_summary(reason, now_ms()), Outcome.GIVEN_UP, reason)
            failed = article.failing(reason)
            if article.attempts >= self.max_attempts:
                return self._given_up(failed, now_ms())
            return Result(failed, Outcome.FAILED, reason)
        return Result(article.with_content(text), Outcome.DONE)

    async def summary(self, article: Article, now_ms: NowMs) -> Result:
        analyst = self._speaking(article.attempts)
        if analyst is None:
            return self._given_up(article.failing(article.text("summaryError") or "ai_error"), now_ms())
        try:
            summary = await analyst.summary(article.title, article.content)
        except Mismatch:
            reason = "content_mismatch"
            return Result(article.without_summary(reason, now_ms()), Outcome.GIVEN_UP, reason)
        except SluiceError as error:
            reason = self._told("ai_error", error, article)
            return Result(article.failing(reason), Outcome.FAILED, reason)
        return Result(article.with_summary(summary, analyst.name, now_ms()), Outcome.DONE)

    def _speaking(self, attempt: int) -> Analyst | None:
        if attempt <= self.max_attempts:
            return self.analyst
        return self.reserve if self.reserve is not self.analyst and attempt == self.max_attempts + 1 else None

    def _given_up(self, failed: Article, now_ms: int) -> Result:
        reason = "max_retries_reached"
        last = failed.text("summaryError")
        closed = failed.without_summary(f"{reason}: {last}" if last else reason, now_ms)
        return Result(closed, Outcome.GIVEN_UP, reason, interim=failed)

    def _told(self, what: str, error: SluiceError, article: Article) -> str:
        text = " ".join(str(error).split())[:MAX_REASON_CHARS]
        return f"{what}: {text} (attempt {article.attempts}/{self.max_attempts})"


_STAGES: Final[dict[Stage, Callable[[Phases, Article, NowMs], Awaitable[Result]]]] = {
    Stage.SENTIMENT: Phases.sentiment,
    Stage.CONTENT: Phases.content,
    Stage.SUMMARY: Phases.summary,
}
