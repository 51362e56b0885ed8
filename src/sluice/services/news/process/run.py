"""The state of one run of the processor."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, NotRequired, TypedDict

from sluice.core.doc import Doc
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint import Checkpoint
from sluice.core.news.checkpoint_transitions import Place
from sluice.core.news.pending_list import PendingEntry
from sluice.services.news.run_lease.lease import RunLease
from sluice.services.news.run_outcomes import Waiting
from sluice.services.news.storage.article_index import ArticleIndex


class ProcessorStep(TypedDict):
    """One attempt at one stage of an article: what it needs next, where it is now, and why."""

    id: str
    stage: Stage
    place: Place
    reason: str


class ProcessorRun(TypedDict):
    """The steps of a run; a run that was busy or waiting has only a reason."""

    outcome: Annotated[Literal["ok", "idle", "busy", "waiting"], Doc("`idle`: there was nothing to do.")]
    reason: NotRequired[str]
    steps: NotRequired[list[ProcessorStep]]


@dataclass(frozen=True, slots=True)
class Idle:
    """The outcome of a run that had nothing to do."""

    reason: str

    def as_json(self) -> ProcessorRun:
        return {"outcome": "idle", "reason": self.reason, "steps": []}


class StaleRead(Exception):
    """KV returned an old copy; the next run will see the new one."""

    def __init__(self, waiting: Waiting) -> None:
        super().__init__(waiting.reason)
        self.waiting = waiting


@dataclass(frozen=True, slots=True)
class Step:
    """One attempt at one stage: what the article needs next, where it is now, and why."""

    article: Article
    place: Place
    reason: str = ""

    def as_json(self) -> ProcessorStep:
        return {"id": self.article.id, "stage": self.article.stage, "place": self.place, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class LegacyMarker:
    """Which older list the checkpoint says was adopted, None if it says nothing, and the one that was found, if any."""

    adopted: str | None = None
    found: str = ""

    @property
    def is_waiting(self) -> bool:
        """Whether a list is to be adopted."""
        return bool(self.found) and self.found != self.adopted


@dataclass(slots=True)
class RunState:
    """What the run has read so far. Only this run writes these keys, except the pending list, so each is read once."""

    lease: RunLease
    checkpoint: Checkpoint
    # Whether KV had a checkpoint when the run began.
    was_present: bool = True
    # None until it is read.
    index: ArticleIndex | None = None
    was_index_present: bool = True
    # Whether it was announced by a run that may have crashed before it was written.
    is_index_unwritten: bool = False
    pending: list[PendingEntry] | None = None
    # Whether the checkpoint has changed since it was last written.
    has_unwritten_checkpoint: bool = False
    # What a person has removed from the try-later list since the last run.
    removed: tuple[Article, ...] = ()
    legacy: LegacyMarker = LegacyMarker()
    steps: list[Step] = field(default_factory=list)
