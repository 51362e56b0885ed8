"""Looks again at an article that the embedded analyst has judged while Workers AI did not answer."""

from collections.abc import Callable
from dataclasses import dataclass

from sluice.core.errors import SluiceError
from sluice.core.news import stage_results as results
from sluice.core.news.analysts import Mismatch
from sluice.core.news.analysts.embedded import EmbeddedAnalyst
from sluice.core.news.article import Article, Stage
from sluice.core.news.stage_results import Reason
from sluice.core.ports import Log
from sluice.services.news.process.answers import Answer, GuardedAi, Question
from sluice.services.news.process.stages import Scrape
from sluice.services.news.state.remote_state import RemoteNewsState


class NotAnswered(SluiceError):
    """Workers AI did not answer; the article waits on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook:
    """Judges an article again by Workers AI alone; without its answer the article stays as it is."""

    answer_source: GuardedAi
    state: RemoteNewsState
    scrape: Scrape
    now_ms: Callable[[], int]
    log: Log

    async def claim(self) -> str:
        """Return the article to look at; "" if there is none, or the state object does not answer."""
        try:
            return await self.state.claim_second_look(self.answer_source.daily_neurons)
        except SluiceError as error:
            self.log.error("second_look.unclaimed", error)
            return ""

    async def give_back(self, article_id: str) -> None:
        """Take back the claim. Best effort: otherwise one attempt too many is counted."""
        try:
            await self.state.give_back_second_look(article_id)
        except SluiceError as error:
            self.log.error("second_look.kept", error, id=article_id)

    async def judge(self, article: Article) -> Article:
        """Repeat what the embedded analyst has said. Raise NotAnswered if Workers AI did not answer."""
        if article.stage is not Stage.COMPLETE:
            return article
        if article.text("sentimentBy") == EmbeddedAnalyst.name:
            answer = await self._ask(lambda analyst: analyst.sentiment(article.title, article.description))
            article = results.sentiment_found(article, answer.text, answer.by, self.now_ms()).article
        if article.text("summaryBy") == EmbeddedAnalyst.name or _lacks_summary(article):
            article = await self._summarise(article)
        return article.with_members(secondLook=None)

    async def _summarise(self, article: Article) -> Article:
        """Read and summarise the page again; if it is gone or does not match, the summary stays."""
        try:
            page = await self.scrape(article.link)
        except SluiceError:
            return article
        try:
            answer = await self._ask(lambda analyst: analyst.summary(article.title, page.text, page.title.splitlines()))
        except Mismatch:
            return article
        return results.summary_found(article, answer.text, answer.by, self.now_ms()).article

    async def _ask(self, question: Question) -> Answer:
        try:
            answer = await self.answer_source.ask(question)
        except Mismatch:
            raise
        except SluiceError as error:
            raise NotAnswered(str(error)) from error
        if answer.second_look:
            raise NotAnswered(answer.second_look)
        return answer


def _lacks_summary(article: Article) -> bool:
    """Return whether the embedded analyst could not summarise the page, which was there."""
    return article.text("summaryError").startswith(Reason.AI_ERROR)
