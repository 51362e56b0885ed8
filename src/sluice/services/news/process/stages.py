"""Performs one attempt at a stage: asks an analyst or fetches the page. The core decides what the answer means."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sluice.core.errors import SluiceError
from sluice.core.news import stage_results as results
from sluice.core.news.analysts import Mismatch
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint_transitions import IllegalTransition
from sluice.core.news.retry import AttemptBy, plan_attempt
from sluice.core.news.scrape import ScrapedPage
from sluice.core.news.stage_results import StageResult
from sluice.services.news.process.answers import Answer, AnswerSource, NoAnswer

NowMs = Callable[[], int]


class Scrape(Protocol):
    """Returns the page behind a link; a SluiceError says why there is none and whether a retry may help."""

    async def __call__(self, url: str) -> ScrapedPage: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRunner:
    """Asks `answer_source` until its attempts are used up, then `fallback` once, if it is another."""

    answer_source: AnswerSource
    fallback: AnswerSource | None
    scrape: Scrape
    max_attempts: int

    async def attempt(self, article: Article, now_ms: NowMs) -> StageResult:
        """Make one attempt at the article's stage; the attempt is already counted."""
        match article.stage:
            case Stage.SENTIMENT:
                return await self._attempt_sentiment(article, now_ms)
            case Stage.CONTENT:
                return await self._attempt_content(article, now_ms)
            case Stage.SUMMARY:
                return await self._attempt_summary(article, now_ms)
            case Stage.COMPLETE:
                raise IllegalTransition(f"article {article.id!r} is complete and has no further stage")

    async def _attempt_sentiment(self, article: Article, now_ms: NowMs) -> StageResult:
        answer_source = self._choose_source(article.attempts)
        if answer_source is None:
            return results.sentiment_out_of_attempts(article, now_ms())
        try:
            answer = await answer_source.ask(lambda analyst: analyst.sentiment(article.title, article.description))
        except SluiceError as error:
            return results.analyst_failed(article, error, self.max_attempts)
        return results.sentiment_found(_mark(article, answer), answer.text, answer.by, now_ms())

    async def _attempt_content(self, article: Article, now_ms: NowMs) -> StageResult:
        if not article.link:
            return results.content_without_link(article, now_ms())
        if plan_attempt(article.attempts, self.max_attempts) is AttemptBy.NONE:
            return results.content_out_of_attempts(article, now_ms())
        try:
            page = await self.scrape(article.link)
        except SluiceError as error:
            return results.content_failed(article, error, self.max_attempts, now_ms())
        return results.content_found(article, page.text, page.title)

    async def _attempt_summary(self, article: Article, now_ms: NowMs) -> StageResult:
        answer_source = self._choose_source(article.attempts)
        if answer_source is None:
            return results.summary_out_of_attempts(article, now_ms())
        try:
            answer = await answer_source.ask(
                lambda analyst: analyst.summary(article.title, article.content, article.page_titles)
            )
        except Mismatch:
            return results.summary_mismatch(article, now_ms())
        except NoAnswer as error:
            return results.summary_impossible(_mark(article, error), error, self.max_attempts, now_ms())
        except SluiceError as error:
            return results.analyst_failed(article, error, self.max_attempts)
        return results.summary_found(_mark(article, answer), answer.text, answer.by, now_ms())

    def _choose_source(self, attempt: int) -> AnswerSource | None:
        has_fallback = self.fallback is not None and self.fallback != self.answer_source
        match plan_attempt(attempt, self.max_attempts, has_fallback=has_fallback):
            case AttemptBy.PRIMARY:
                return self.answer_source
            case AttemptBy.FALLBACK:
                return self.fallback
            case AttemptBy.NONE:
                return None


def _mark(article: Article, answer: Answer | NoAnswer) -> Article:
    """Mark the article for a second look if another analyst than the intended one has answered."""
    return article.with_members(secondLook=answer.second_look) if answer.second_look else article
