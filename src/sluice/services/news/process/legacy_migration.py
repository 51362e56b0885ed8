"""Adopts the articles of the architecture before checkpoints: some in each run, until all are stored as articles.

The index gets all of their ids first, so that none of them is missing from what is served meanwhile. An article counts
as adopted once the checkpoint knows it, so a run after a crash goes on with those that it does not know. A marker in the
metadata of the checkpoint names the list that was adopted; without a marker the state object says whether there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint_transitions import Place
from sluice.core.ports import KvWriter, Log
from sluice.services.news.process.article_store import ArticleStore
from sluice.services.news.process.checkpoint_store import CheckpointStore
from sluice.services.news.process.run import LegacyMarker, RunState, Step
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.services.news.storage.article_index import read_articles
from sluice.services.news.storage.keys import LEGACY

if TYPE_CHECKING:
    from sluice.core.news.legacy import LegacyNews

MAX_ADOPTED: Final = 25  # in one run; each is a write
# Articles to try later are part of the checkpoint, which must stay small enough for the run lease to keep it.
MAX_WAITING: Final = 50
# The stored reason of an article that was not finished when it was adopted.
REASON: Final = "legacy"
# The marker when there was nothing to adopt.
NOTHING: Final = "none"
_MAX_PLACES: Final = 20  # in one log line


class UnreadableLegacy(SluiceError):
    """The older list has another shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyMigration:
    kv: KvWriter
    checkpoints: CheckpointStore
    articles: ArticleStore
    state: RemoteNewsState
    log: Log

    async def check(self, mark: LegacyMarker) -> LegacyMarker:
        """Ask the state object if the checkpoint has no marker; a run that works writes the answer with its checkpoint."""
        if mark.adopted is not None:
            return mark
        try:
            found = await self.state.find_legacy()
        except SluiceError as error:
            self.log.error("state.failed", error)
            return mark
        return LegacyMarker(None, found) if found else LegacyMarker(NOTHING)

    async def migrate(self, run: RunState) -> list[Step]:
        """Adopt some articles; mark the list as adopted when none is left."""
        from sluice.core.news.legacy import parse_legacy  # noqa: PLC0415 - rare

        legacy = parse_legacy(await self.kv.get_text(LEGACY))
        kept = await self.articles.append_to_index(run, [each.id for each in legacy.articles])
        known = run.checkpoint.known_ids
        left = [each for each in legacy.articles if each.id in kept and each.id not in known]
        batch = _choose_batch(left, MAX_WAITING - len(run.checkpoint.try_later))
        steps = [self._record(run, each) for each in await self._store(batch)]
        if len(batch) == len(left):
            self._finish(run, legacy, kept)
        return steps

    async def _store(self, batch: Sequence[Article]) -> list[Article]:
        """Write the articles that are not stored yet; those that are stay as they are."""
        stored = await read_articles(self.kv, [each.id for each in batch]) if batch else {}
        for article in batch:
            if article.id not in stored:
                await self.articles.write(article)
        return [stored.get(each.id, each) for each in batch]

    def _record(self, run: RunState, article: Article) -> Step:
        is_complete = article.stage is Stage.COMPLETE
        step = Step(article, Place.PROCESSED if is_complete else Place.TRY_LATER, REASON)
        self.checkpoints.record(run, article, step.place, REASON)
        return step

    def _finish(self, run: RunState, legacy: "LegacyNews", kept: set[str]) -> None:
        run.legacy = LegacyMarker(run.legacy.found)
        run.has_unwritten_checkpoint = True
        if not legacy.is_readable:
            error = UnreadableLegacy(f"{LEGACY} is not an object with a list of articles")
            self.log.error("legacy.unreadable", error, alert="nothing of it was adopted")
        if legacy.malformed:
            self.log.event("legacy.skipped", entries=len(legacy.malformed), places=legacy.malformed[:_MAX_PLACES])
        surplus = [each.id for each in legacy.articles if each.id not in kept]
        self.log.event("legacy.adopted", articles=len(legacy.articles) - len(surplus), surplus=len(surplus))


def _choose_batch(left: Sequence[Article], room: int) -> list[Article]:
    """Return the first articles, of which `room` may be unfinished."""
    batch: list[Article] = []
    for article in left:
        is_unfinished = article.stage is not Stage.COMPLETE
        if len(batch) < MAX_ADOPTED and (room > 0 or not is_unfinished):
            batch.append(article)
            room -= is_unfinished
    return batch
