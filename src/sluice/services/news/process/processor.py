"""One run of the processor: takes an article, records the attempt, performs one stage, stores the result."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from sluice.core.errors import Conflict, NotFound
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint import Checkpoint
from sluice.core.news.checkpoint_transitions import Place, place_after
from sluice.core.news.pending_list import PendingEntry, next_pending
from sluice.core.news.retry import is_retry_due
from sluice.core.news.stage_results import Reason, StageResult, removed_by_operator
from sluice.core.ports import Log
from sluice.services.news.process.article_publisher import ArticlePublisher
from sluice.services.news.process.article_store import ArticleStore
from sluice.services.news.process.checkpoint_store import CheckpointStore, StoredCheckpoint
from sluice.services.news.process.legacy_migration import LegacyMigration
from sluice.services.news.process.run import Idle, ProcessorRun, RunState, Step
from sluice.services.news.process.second_look import NotAnswered, SecondLook
from sluice.services.news.process.stages import StageRunner
from sluice.services.news.run_outcomes import Busy, Waiting
from sluice.services.news.settings import ProcessorSettings

T = TypeVar("T")
_LOG_MESSAGES: Final = {
    Place.PROCESSED: "✓ Article fully processed",
    Place.TRY_LATER: "Moving article to try-later list",
    Place.CURRENT: "Article advanced",
}


@dataclass(frozen=True, slots=True)
class RunResult:
    """The outcome of a run that has performed its steps."""

    steps: Sequence[Step]

    def as_json(self) -> ProcessorRun:
        return {"outcome": "ok", "steps": [step.as_json() for step in self.steps]}


ProcessorReport = Busy | Waiting | Idle | RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """Works through the pending list, or through one article on request."""

    checkpoints: CheckpointStore
    articles: ArticleStore
    legacy: LegacyMigration
    stages: StageRunner
    publisher: ArticlePublisher
    # None without Workers AI.
    second_look: SecondLook | None
    log: Log
    settings: ProcessorSettings

    async def run(self) -> ProcessorReport:
        """Perform up to MAX_ARTICLES_PER_RUN stages. A run without work makes two reads and takes no lease."""
        stored = await self.checkpoints.read()
        stored = replace(stored, legacy=await self.legacy.check(stored.legacy))
        pending: list[PendingEntry] | None = None
        report: ProcessorReport | None = None
        checkpoint = stored.checkpoint
        if isinstance(checkpoint, Checkpoint) and checkpoint.current is None and not stored.is_edited:
            found = await self.articles.read_pending_list()
            pending = found.entries
            stored = replace(stored, legacy=replace(stored.legacy, found=stored.legacy.found or found.metadata.legacy))
            report = None if stored.legacy.is_waiting else self._find_idle(checkpoint, pending)
        if report is None:
            report = await self._run_with_lease(lambda run: self._process_articles(run, pending), stored)
        if isinstance(report, Idle) and self.second_look is not None:
            report = await self._rejudge_waiting(self.second_look, stored) or report
        if isinstance(report, RunResult):
            await self.publisher.refresh()
        self.log.event("processor.run", **report.as_json())
        return report

    async def process_one(self, article_id: str, *, force: bool) -> Article:
        """Perform all stages of one article. `force` repeats finished stages. A failure is retried later."""

        async def process(run: RunState) -> Article:
            article = await self.articles.read_latest(run, await self._find(run, article_id))
            return await self._process_all_stages(run, article.reset() if force else article)

        match await self._run_with_lease(process):
            case Busy():
                raise Conflict("another run is under way; try again in a minute")
            case Waiting() as waiting:
                raise Conflict(f"{waiting.reason}; try again in a minute")
            case Article() as article:
                await self.publisher.refresh()
                return article

    async def _run_with_lease(
        self, work: Callable[[RunState], Awaitable[T]], stored: StoredCheckpoint | None = None
    ) -> T | Busy | Waiting:
        async def start(run: RunState) -> T:
            await self._close_removed(run)
            return await work(run)

        return await self.checkpoints.run_with_lease(start, stored)

    async def _close_removed(self, run: RunState) -> None:
        """Complete what the operator has removed from the try-later list; the checkpoint has it as processed."""
        for article in run.removed:
            closed = removed_by_operator(article, self.checkpoints.now_ms())
            await self.articles.write(closed)
            await self._publish(run, closed)
            self._add_step(run, Step(closed, Place.PROCESSED, Reason.REMOVED))

    async def _process_articles(self, run: RunState, pending: list[PendingEntry] | None) -> RunResult | Idle:
        run.pending = pending
        if run.legacy.is_waiting and (steps := await self.legacy.migrate(run)):
            await self._publish(run, steps[0].article)
            run.steps += steps
            return RunResult(run.steps)
        for _ in range(self.settings.max_articles_per_run):
            chosen = await self._choose_next(run)
            if chosen is None:
                break
            article = await self.articles.read_latest(run, chosen)
            if article.stage is Stage.COMPLETE:
                await self._close(run, article)
            else:
                await self._attempt_stage(run, article, Place.CURRENT)
        if not run.steps:
            return self._explain_idle(run.checkpoint)
        return RunResult(run.steps)

    async def _rejudge_waiting(self, second_look: SecondLook, stored: StoredCheckpoint) -> ProcessorReport | None:
        """Judge one article that waits for Workers AI; return None if there is none."""
        article_id = await second_look.claim()
        if not article_id:
            return None

        async def judge(run: RunState) -> RunResult | None:
            article = await self.articles.read(article_id)
            if article is None or article_id not in (await self.articles.read_index(run)).ids:
                return None
            judged = await second_look.judge(article)
            await self.articles.store(run, judged)
            await self._publish(run, judged)
            self._add_step(run, Step(judged, Place.PROCESSED, "second look"))
            return RunResult(run.steps)

        report: ProcessorReport | None
        try:
            report = await self._run_with_lease(judge, stored)
        except NotAnswered as error:
            self.log.error("second_look.unanswered", error, id=article_id)
            report = Idle("Workers AI did not answer")
        if isinstance(report, Busy | Waiting | Idle):
            await second_look.give_back(article_id)
        return report

    def _find_idle(self, checkpoint: Checkpoint, pending: list[PendingEntry]) -> Idle | None:
        """Return why there is nothing to do; None if there is something."""
        chosen = self._choose_waiting(checkpoint, pending)
        return self._explain_idle(checkpoint) if chosen is None else None

    def _explain_idle(self, checkpoint: Checkpoint) -> Idle:
        waiting = len(checkpoint.try_later)
        retries = f"; {waiting} wait for their next attempt" if waiting else ""
        return Idle(f"no article is pending{retries}")

    async def _process_all_stages(self, run: RunState, article: Article) -> Article:
        """Keep the article in the try-later list meanwhile, so that the current article stays current."""
        if article.stage is Stage.COMPLETE:
            await self._close(run, article)
        place = Place.CURRENT
        while article.stage is not Stage.COMPLETE and place is Place.CURRENT:
            article, place = await self._attempt_stage(run, article, Place.TRY_LATER)
        return article

    async def _attempt_stage(self, run: RunState, article: Article, kept_at: Place) -> tuple[Article, Place]:
        """Make one attempt. Until the article is processed or fails, the checkpoint keeps it at `kept_at`."""
        self._log_start(article)
        started = article.begin_attempt(self.checkpoints.now_ms())
        await self.checkpoints.begin_attempt(run, started, kept_at)
        result = await self.stages.attempt(started, self.checkpoints.now_ms)
        await self._store_result(run, result)
        place = place_after(started.stage, result.outcome, result.article.stage)
        self.checkpoints.record(run, result.article, kept_at if place is Place.CURRENT else place, result.reason)
        self._add_step(run, Step(result.article, place, result.reason))
        return result.article, place

    async def _store_result(self, run: RunState, result: StageResult) -> None:
        if result.last_attempt is None:
            await self.articles.store(run, result.article)
        else:
            await self.articles.store(run, result.last_attempt, final=result.article)
        await self._publish(run, result.article)

    async def _publish(self, run: RunState, article: Article) -> None:
        await self.publisher.publish(article, await self.articles.read_index(run))

    async def _close(self, run: RunState, article: Article) -> None:
        """Record an article that is complete, because a crashed run completed it but did not record that."""
        await self.articles.add_to_index(run, article.id)
        await self._publish(run, article)
        self.checkpoints.record(run, article, Place.PROCESSED, "")
        self._add_step(run, Step(article, Place.PROCESSED))

    async def _choose_next(self, run: RunState) -> Article | None:
        """Return the current article, else the first pending one, else the first whose retry is due."""
        if run.checkpoint.current is not None:
            return run.checkpoint.current
        return self._choose_waiting(run.checkpoint, await self.articles.read_pending(run))

    def _choose_waiting(self, checkpoint: Checkpoint, entries: list[PendingEntry]) -> Article | None:
        now_ms = self.checkpoints.now_ms()
        pending = next_pending(entries, checkpoint.known_ids, now_ms)
        if pending is not None:
            return pending
        delay_s = self.settings.retry_delay_s
        due = (each for each in checkpoint.try_later if is_retry_due(each, retry_delay_s=delay_s, now_ms=now_ms))
        return next((entry.article for entry in due), None)

    async def _find(self, run: RunState, article_id: str) -> Article:
        """Look in the checkpoint, then in the stored articles, then in the pending list."""
        article = run.checkpoint.find(article_id) or await self.articles.read(article_id)
        if article is None:
            entries = await self.articles.read_pending(run)
            article = next((entry.article for entry in entries if entry.article.id == article_id), None)
        if article is None:
            raise NotFound(f"no article {article_id!r} is stored or pending")
        return article

    def _log_start(self, article: Article) -> None:
        message = f"Processing article: {article.id}"
        self.log.event("article.processing", message=message, id=article.id, stage=article.stage)

    def _add_step(self, run: RunState, step: Step) -> None:
        fields = {"id": step.article.id, "stage": step.article.stage, "reason": step.reason}
        self.log.event("article.moved", message=_LOG_MESSAGES[step.place], **fields)
        run.steps.append(step)
