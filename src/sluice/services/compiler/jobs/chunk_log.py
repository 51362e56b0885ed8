"""The log of a batch by chunks of three, as operators know it, although its items run in a sliding window."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.ports import Log

CHUNK_SIZE: Final = 3


@dataclass(slots=True)
class ChunkLog:
    """Logs each chunk when its first item begins and when its last one ends."""

    log: Log
    request_id: str
    total: int
    _begun: set[int] = field(default_factory=set)
    _ended: dict[int, list[bool]] = field(default_factory=dict)

    def begin(self, place: int) -> None:
        chunk = place // CHUNK_SIZE
        if chunk not in self._begun:
            self._begun.add(chunk)
            self.log.event("batch.chunk", request_id=self.request_id, chunk=self._name(chunk))

    def end(self, place: int, *, success: bool) -> None:
        chunk = place // CHUNK_SIZE
        ended = self._ended.setdefault(chunk, [])
        ended.append(success)
        if len(ended) == min(CHUNK_SIZE, self.total - chunk * CHUNK_SIZE):
            done = f"{sum(ended)}/{len(ended)}"
            self.log.event("batch.chunk_done", request_id=self.request_id, chunk=self._name(chunk), successful=done)

    def _name(self, chunk: int) -> str:
        return f"{chunk + 1}/{-(-self.total // CHUNK_SIZE)}"
