"""Which of many literal texts occur in a line, at a cost that hardly depends on how many there are.

A line is cut into pieces of a fixed width at every `stride` characters. A literal is filed under `stride` neighbouring
pieces of its own, so that wherever it stands, one of them falls on a cut; the least common neighbours are chosen.
Literals that have only common pieces to offer there are filed with stride 1, under the one rarest piece.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

# Width and stride for literals of at least width + stride - 1 characters, the longest first.
_CUTS: Final = ((8, 8), (6, 4), (4, 2), (8, 1), (4, 1), (2, 1), (1, 1))
# Up to here it is quicker to look for each one.
_FEW: Final = 20
# A guess: how many literals may share a piece before looking them all up costs more than a finer cut.
_CROWD: Final = 20

# From here on a line is cut piece by piece: the pieces of a line of 10 MB would take 500 MB.
_LONG: Final = 10_000


class _Shelf(NamedTuple):
    width: int
    stride: int
    pieces: frozenset[str]
    files: dict[str, list[str]]


class Literals:
    def __init__(self, literals: list[str]) -> None:
        self._literals = literals
        self._shelves = _shelves(literals) if len(literals) > _FEW else []

    def any_in(self, line: str) -> bool:
        """Whether one of them occurs in the line."""
        if not self._shelves:
            return any(literal in line for literal in self._literals)
        for width, stride, pieces, files in self._shelves:
            if len(line) > _LONG:
                hits = pieces.intersection(_cuts(line, width, stride))
            else:
                hits = pieces.intersection([line[at : at + width] for at in range(0, len(line) - width + 1, stride)])
            if hits and any(_found(line, files, hits)):
                return True
        return False

    def found_in(self, line: str) -> Iterator[str]:
        """Those that occur in the line; one may come more than once."""
        if not self._shelves:
            yield from (literal for literal in self._literals if literal in line)
        for width, stride, pieces, files in self._shelves:
            yield from _found(line, files, pieces.intersection(_cuts(line, width, stride)))


def _cuts(line: str, width: int, stride: int) -> Iterator[str]:
    return (line[start : start + width] for start in range(0, len(line) - width + 1, stride))


def _found(line: str, files: dict[str, list[str]], pieces: frozenset[str]) -> Iterator[str]:
    return (literal for piece in pieces for literal in files[piece] if literal in line)


def _shelves(literals: list[str]) -> list[_Shelf]:
    shelves = []
    for width, stride in _CUTS:
        files, literals = _filed(literals, width, stride)
        if files:
            shelves.append(_Shelf(width, stride, frozenset(files), files))
    return shelves


def _filed(literals: list[str], width: int, stride: int) -> tuple[dict[str, list[str]], list[str]]:
    """The files, and the literals that are too short for this cut or would crowd a file."""
    counts = Counter(piece for literal in literals for piece in set(_pieces(literal, width)))
    files: dict[str, list[str]] = defaultdict(list)
    rest = []
    for literal in literals:
        pieces = _pieces(literal, width)
        crowds = [counts[piece] for piece in pieces]
        start = min(range(len(pieces) - stride + 1), key=lambda at: max(crowds[at : at + stride]), default=None)
        if start is None or (stride > 1 and max(crowds[start : start + stride]) > _CROWD):
            rest.append(literal)
            continue
        for piece in set(pieces[start : start + stride]):
            files[piece].append(literal)
    return dict(files), rest


def _pieces(text: str, width: int) -> list[str]:
    return [text[start : start + width] for start in range(len(text) - width + 1)]
