"""What the outcome of an attempt makes of the article, stage by stage, and the reasons that are stored with it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.news.analysts.embedded import EmbeddedAnalyst
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint_transitions import Outcome
from sluice.core.news.retry import AttemptBy, plan_attempt

MAX_ERROR_CHARS: Final = 120


class Reason(StrEnum):
    """The stored code at the beginning of every reason."""

    AI_ERROR = "ai_error"
    CONTENT_MISMATCH = "content_mismatch"
    FETCH_FAILED = "fetch_failed"
    MAX_RETRIES_REACHED = "max_retries_reached"
    NO_LINK = "no_link"
    REMOVED = "removed_from_try_later"


@dataclass(frozen=True, slots=True)
class StageResult:
    """The article after an attempt. `last_attempt`, if any, is stored before the article itself."""

    article: Article
    outcome: Outcome
    reason: str = ""
    last_attempt: Article | None = None


def sentiment_found(article: Article, sentiment: str, analyst: str, now_ms: int) -> StageResult:
    judged = article.with_sentiment(sentiment, analyst, now_ms)
    return StageResult(judged.with_members(**_find_figures(article, analyst)), Outcome.DONE)


def sentiment_out_of_attempts(article: Article, now_ms: int) -> StageResult:
    reason = article.last_error or Reason.MAX_RETRIES_REACHED
    return StageResult(article.without_sentiment(reason, now_ms), Outcome.GIVEN_UP, reason)


def analyst_failed(article: Article, error: SluiceError, max_attempts: int) -> StageResult:
    """Return the result when the analyst did not answer, or not usably: the article stays at its stage."""
    reason = _describe(Reason.AI_ERROR, error, article, max_attempts)
    return StageResult(article.with_error(reason), Outcome.FAILED, reason)


def content_found(article: Article, text: str, page_title: str = "") -> StageResult:
    return StageResult(article.with_content(text, page_title), Outcome.DONE)


def content_without_link(article: Article, now_ms: int) -> StageResult:
    return _complete_without_summary(article, Reason.NO_LINK, now_ms)


def content_failed(article: Article, error: SluiceError, max_attempts: int, now_ms: int) -> StageResult:
    """Return the result when the page could not be read. If no retry can help, or this was the last attempt, the article is complete."""
    reason = _describe(Reason.FETCH_FAILED, error, article, max_attempts)
    if not error.retryable:
        return _complete_without_summary(article, reason, now_ms)
    failed = article.with_error(reason)
    if plan_attempt(article.attempts + 1, max_attempts) is AttemptBy.NONE:
        return _out_of_attempts(failed, now_ms)
    return StageResult(failed, Outcome.FAILED, reason)


def content_out_of_attempts(article: Article, now_ms: int) -> StageResult:
    return _out_of_attempts(article.with_error(article.last_error or Reason.FETCH_FAILED), now_ms)


def summary_found(article: Article, summary: str, analyst: str, now_ms: int) -> StageResult:
    return StageResult(article.with_summary(summary, analyst, now_ms), Outcome.DONE)


def summary_mismatch(article: Article, now_ms: int) -> StageResult:
    """Return the result when the page is about something else: another attempt would find the same."""
    return _complete_without_summary(article, Reason.CONTENT_MISMATCH, now_ms)


def summary_impossible(article: Article, error: SluiceError, max_attempts: int, now_ms: int) -> StageResult:
    """Return the result when the text cannot be summarised: another attempt would fail the same way."""
    return _complete_without_summary(article, _describe(Reason.AI_ERROR, error, article, max_attempts), now_ms)


def summary_out_of_attempts(article: Article, now_ms: int) -> StageResult:
    return _out_of_attempts(article.with_error(article.last_error or Reason.AI_ERROR), now_ms)


def removed_by_operator(article: Article, now_ms: int) -> Article:
    """Complete an article that the operator has removed from the try-later list, with what it has."""
    judged = article.without_sentiment(Reason.REMOVED, now_ms) if article.stage is Stage.SENTIMENT else article
    return judged if judged.stage is Stage.COMPLETE else _close_with_feed_text(judged, Reason.REMOVED, now_ms)


def _complete_without_summary(article: Article, reason: str, now_ms: int) -> StageResult:
    return StageResult(_close_with_feed_text(article, reason, now_ms), Outcome.GIVEN_UP, reason)


def _out_of_attempts(failed: Article, now_ms: int) -> StageResult:
    reason = Reason.MAX_RETRIES_REACHED
    closed = _close_with_feed_text(failed, f"{reason}: {failed.last_error}", now_ms)
    return StageResult(closed, Outcome.GIVEN_UP, reason, last_attempt=failed)


def _close_with_feed_text(article: Article, reason: str, now_ms: int) -> Article:
    """Complete an article whose page cannot be summarised with the text of its feed, if that can be published."""
    from sluice.core.news.summaries.feed_text import summarise_feed_text  # noqa: PLC0415 - rare

    text = summarise_feed_text(article.title, article.description)
    return article.with_feed_text(text, reason, now_ms) if text else article.without_summary(reason, now_ms)


def _find_figures(article: Article, analyst: str) -> dict[str, object]:
    """Return the score and the confidence of the embedded analyst's judgement; another analyst gives none."""
    if analyst != EmbeddedAnalyst.name:
        return {"sentimentScore": None, "sentimentConfidence": None}
    from sluice.core.news.sentiment import judge_headline  # noqa: PLC0415 - rare

    judgement = judge_headline(article.title, article.description)
    return {"sentimentScore": judgement.score, "sentimentConfidence": judgement.confidence}


def _describe(code: Reason, error: SluiceError, article: Article, max_attempts: int) -> str:
    text = " ".join(str(error).split())[:MAX_ERROR_CHARS]
    return f"{code}: {text} (attempt {article.attempts}/{max_attempts})"
