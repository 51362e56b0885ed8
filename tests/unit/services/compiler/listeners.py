"""A log and a dataset that tests can read."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class ListLog:
    events: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    errors: list[tuple[str, BaseException]] = field(default_factory=list)

    def event(self, name: str, /, **fields: object) -> None:
        self.events.append((name, fields))

    def error(self, name: str, error: BaseException, /, **_fields: object) -> None:
        self.errors.append((name, error))


@dataclass
class ListAnalytics:
    points: list[tuple[str, tuple[str, ...], tuple[float, ...]]] = field(default_factory=list)

    def write(self, event: str, *, blobs: Sequence[str] = (), doubles: Sequence[float] = ()) -> None:
        self.points.append((event, tuple(blobs), tuple(doubles)))
