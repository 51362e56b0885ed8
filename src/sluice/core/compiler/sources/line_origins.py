"""Where each line comes from: its file and line number, recorded only if the report lists dropped lines.

Two integers per line in arrays, because a list has up to a million lines.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Self

GENERATED: Final = -1  # the file of a line that is in no source: a header, or a line that a transformation added


class SourceFile(NamedTuple):
    """One file as one source reached it; `via` are the lines (`a.txt:3`) that included it, outermost first."""

    source: str
    file: str
    via: tuple[str, ...] = ()


class SourceFiles:
    """All files of a compilation, numbered from 0."""

    def __init__(self) -> None:
        self._files: list[SourceFile] = []

    def add(self, file: SourceFile) -> int:
        """Add a file and return its number."""
        self._files.append(file)
        return len(self._files) - 1

    def __getitem__(self, number: int) -> SourceFile:
        return self._files[number]

    def __iter__(self) -> Iterator[SourceFile]:
        return iter(self._files)


class LineOrigins:
    """For each line, the number of its file in SourceFiles and its line number in that file."""

    def __init__(self, files: Iterable[int] = (), lines: Iterable[int] = ()) -> None:
        self.files = array("i", files)
        self.lines = array("i", lines)

    @classmethod
    def of_file(cls, file: int, lines: Sequence[int]) -> Self:
        """Build the origins of lines that all come from one file."""
        origins = cls()
        origins.add_file(file, lines)
        return origins

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, at: int) -> tuple[int, int]:
        return self.files[at], self.lines[at]

    def add_file(self, file: int, lines: Sequence[int]) -> None:
        self.files.extend(array("i", [file]) * len(lines))
        self.lines.extend(lines)

    def add_generated(self, count: int) -> None:
        self.add_file(GENERATED, array("i", [0]) * count)

    def insert_generated(self, at: int, count: int) -> None:
        self.files[at:at] = array("i", [GENERATED]) * count
        self.lines[at:at] = array("i", [0]) * count

    def extend(self, other: "LineOrigins") -> None:
        self.files.extend(other.files)
        self.lines.extend(other.lines)

    def select(self, indexes: Sequence[int]) -> "LineOrigins":
        """Return the origins of the lines at these indexes; -1 means a generated line."""
        # The last element stands for generated lines: it is the one at index -1.
        files, lines = array("i", [*self.files, GENERATED]), array("i", [*self.lines, 0])
        return LineOrigins(map(files.__getitem__, indexes), map(lines.__getitem__, indexes))
