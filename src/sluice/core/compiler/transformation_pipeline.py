"""The transformations of one level, observed: a source's own, or the list's."""

import asyncio
from collections.abc import Sequence
from typing import TypeVar

from sluice.core.compiler import events
from sluice.core.compiler.context import Session
from sluice.core.compiler.metrics import Stage
from sluice.core.compiler.sources.source_reader import Text
from sluice.core.filters import pipeline
from sluice.core.filters.patterns.patterns import Patterns

T = TypeVar("T")


class TransformationPipeline:
    """Applies filters and transformations; `source` names the source they belong to, None for the list."""

    def __init__(self, session: Session, source: str | None = None) -> None:
        self._session = session
        self._source = source

    async def apply_all(
        self, text: Text, names: Sequence[str], *, exclusions: Patterns | None, inclusions: Patterns | None
    ) -> Text:
        """The text after all of them; the lines given are handed over."""
        observer = _Observer(self._session, self._source)
        detective = self._session.detective
        if detective is None or text.origins is None:
            work = pipeline.transforming(
                text.take(), names, exclusions=exclusions, inclusions=inclusions, observer=observer
            )
            return Text(await _in_turns(work))
        traced = await _in_turns(
            pipeline.tracing(text.take(), names, exclusions=exclusions, inclusions=inclusions, observer=observer)
        )
        detective.note(traced.dropped, text.origins)
        return Text(traced.lines, text.origins.follow(traced.origins))


async def _in_turns(work: pipeline.Work[T]) -> T:
    """Let others have their turn in every pause: what was told so far goes out, and a Worker's clock moves on."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            outcome: T = end.value
            return outcome
        await asyncio.sleep(0)


class _Observer:
    def __init__(self, session: Session, source: str | None) -> None:
        self._session = session
        self._source = source
        self._began = session.clock.now()

    def started(self, name: str, count: int) -> None:
        self._began = self._session.clock.now()
        self._session.emit(events.transformation_start(name, count))

    def completed(self, name: str, count_in: int, count_out: int) -> None:
        duration_ms = self._session.elapsed_ms(self._began)
        self._session.add_step(
            Stage(name=name, source=self._source, duration_ms=duration_ms, lines_in=count_in, lines_out=count_out)
        )
        self._session.emit(events.transformation_complete(name, count_in, count_out, round(duration_ms)))
