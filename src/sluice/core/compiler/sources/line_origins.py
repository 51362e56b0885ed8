"""Where lines came from: kept only when a report asks for it, as two numbers for each line."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

OURS: Final = -1  # the file of a line that no source holds: a header, or one that a transformation added


@dataclass(frozen=True, slots=True)
class Place:
    """One file as one source reached it; `via` are the lines (`a.txt:3`) that included it, outermost first."""

    source: str
    file: str
    via: tuple[str, ...] = ()


class Places:
    """All files of a compilation, numbered."""

    def __init__(self) -> None:
        self._places: list[Place] = []

    def add(self, place: Place) -> int:
        self._places.append(place)
        return len(self._places) - 1

    def __getitem__(self, number: int) -> Place:
        return self._places[number]


@dataclass(slots=True)
class Origins:
    """For each line of a text, its file (a number in Places) and its line number there."""

    files: "array[int]" = field(default_factory=lambda: array("i"))
    lines: "array[int]" = field(default_factory=lambda: array("i"))

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, at: int) -> tuple[int, int]:
        return self.files[at], self.lines[at]

    def add_file(self, file: int, lines: Sequence[int]) -> None:
        self.files.extend(array("i", [file]) * len(lines))
        self.lines.extend(lines)

    def add_ours(self, count: int) -> None:
        self.add_file(OURS, array("i", [0]) * count)

    def extend(self, other: "Origins") -> None:
        self.files.extend(other.files)
        self.lines.extend(other.lines)

    def follow(self, indexes: Iterable[int]) -> "Origins":
        """The origins of lines made from these ones; an index below zero stands for an added line."""
        followed = Origins()
        for at in indexes:
            followed.files.append(self.files[at] if at >= 0 else OURS)
            followed.lines.append(self.lines[at] if at >= 0 else 0)
        return followed


def origins_of_file(file: int, lines: Sequence[int]) -> Origins:
    origins = Origins()
    origins.add_file(file, lines)
    return origins
