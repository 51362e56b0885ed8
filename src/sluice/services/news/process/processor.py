"""One run of the processor: take an article, note it, do one stage of it, store it, note how it ended."""

from dataclasses import dataclass
from typing import Any

from sluice.core.errors import Conflict, NotFound
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint import Place
from sluice.core.news.pending_list import next_pending
from sluice.services.news.process.checkpoint_store import Ledger, Run, Stale


@dataclass(frozen=True, slots=True)
class Processor:
    """Works through the pending list, and by hand through one article."""

    ledger: Ledger

    async def run(self) -> dict[str, Any]:
        """Up to MAX_ARTICLES_PER_RUN steps, and what came of them."""
        try:
            report = await self.ledger.in_turn(self._steps, busy=_busy)
        except Stale as stale:
            report = {"outcome": "waiting", "reason": str(stale)}
        self.ledger.log.event("processor.run", **report)
        return report

    async def by_hand(self, article_id: str, *, force: bool) -> Article:
        """All stages of one article at once; `force` does again what was done already. A failure is left for later."""

        async def work(run: Run) -> Article:
            article = await self._found(run, article_id)
            article = await self.ledger.latest(run, article)
            article = article.restarted() if force else article
            if article.stage is Stage.COMPLETE:
                await self.ledger.close(run, article)
            place = Place.CURRENT
            while article.stage is not Stage.COMPLETE and place is Place.CURRENT:
                article, place = await self.ledger.attempt(run, article, aside=True)
            return article

        def busy() -> Article:
            raise Conflict("another run is under way; try again in a minute")

        try:
            return await self.ledger.in_turn(work, busy)
        except Stale as stale:
            raise Conflict(f"{stale}; try again in a minute") from stale

    async def _steps(self, run: Run) -> dict[str, Any]:
        for _ in range(self.ledger.settings.max_articles_per_run):
            if not await self._step(run):
                break
        return {"outcome": "ok" if run.steps else "idle", "steps": run.steps}

    async def _step(self, run: Run) -> bool:
        chosen = await self._next(run)
        if chosen is None:
            return False
        article = await self.ledger.latest(run, chosen)
        if article.stage is Stage.COMPLETE:
            await self.ledger.close(run, article)
        else:
            await self.ledger.attempt(run, article)
        return True

    async def _next(self, run: Run) -> Article | None:
        """The current article, else the first pending, else the first that waits for another try."""
        if run.checkpoint.current is not None:
            return run.checkpoint.current
        now_ms = self.ledger.now_ms()
        pending = next_pending(await self.ledger.pending(run), run.checkpoint.known_ids, now_ms)
        if pending is not None:
            return pending
        settings = self.ledger.settings
        due = (each.article for each in run.checkpoint.try_later if settings.retry_is_due(each, now_ms))
        return next(due, None)

    async def _found(self, run: Run, article_id: str) -> Article:
        """In work, waiting, stored or pending."""
        current = run.checkpoint.current
        known = [] if current is None else [current]
        known += [each.article for each in run.checkpoint.try_later]
        found = next((each for each in known if each.id == article_id), None) or await self.ledger.stored(article_id)
        if found is None:
            entries = await self.ledger.pending(run)
            found = next((each.article for each in entries if each.article.id == article_id), None)
        if found is None:
            raise NotFound(f"no article {article_id!r} is stored or pending")
        return found


def _busy() -> dict[str, Any]:
    return {"outcome": "busy", "reason": "another run is under way"}
