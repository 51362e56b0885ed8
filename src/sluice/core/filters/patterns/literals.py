"""Finds which of many literal texts occur in a line, at a cost that hardly depends on their number.

A line is cut into pieces of a fixed width, one at every `stride` characters. A literal is indexed under `stride`
consecutive pieces of its own, so that at any position in a line, one of them falls on a cut. The least common
consecutive pieces are chosen. A literal that has only common pieces is indexed with stride 1 under its rarest piece.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

# Width and stride for literals of at least width + stride - 1 characters, the longest first.
_CUTS: Final = ((8, 8), (6, 4), (4, 2), (8, 1), (4, 1), (2, 1), (1, 1))
# Up to this many, searching for each one is faster.
_FEW: Final = 20
# A guess: beyond this many literals per piece, comparing them all costs more than a finer cut.
_CROWD: Final = 20

# From this length on a line is cut lazily: the pieces of a line of 10 MB would take 500 MB.
_LONG: Final = 10_000


class _PieceIndex(NamedTuple):
    width: int
    stride: int
    pieces: frozenset[str]
    literals: dict[str, list[str]]


class Literals:
    """A set of literal texts, indexed by pieces if there are many."""

    def __init__(self, literals: list[str]) -> None:
        self._literals = literals
        self._indexes = _build_indexes(literals) if len(literals) > _FEW else []

    def has_match(self, line: str) -> bool:
        """Return whether one of them occurs in the line."""
        if not self._indexes:
            return any(literal in line for literal in self._literals)
        for width, stride, pieces, by_piece in self._indexes:
            if len(line) > _LONG:
                hits = pieces.intersection(_cut(line, width, stride))
            else:
                hits = pieces.intersection([line[at : at + width] for at in range(0, len(line) - width + 1, stride)])
            if hits and any(_find_literals(line, by_piece, hits)):
                return True
        return False

    def find_matches(self, line: str) -> Iterator[str]:
        """Yield the literals that occur in the line; one may be yielded more than once."""
        if not self._indexes:
            yield from (literal for literal in self._literals if literal in line)
        for width, stride, pieces, by_piece in self._indexes:
            yield from _find_literals(line, by_piece, pieces.intersection(_cut(line, width, stride)))


def _cut(line: str, width: int, stride: int) -> Iterator[str]:
    return (line[start : start + width] for start in range(0, len(line) - width + 1, stride))


def _find_literals(line: str, by_piece: dict[str, list[str]], pieces: frozenset[str]) -> Iterator[str]:
    return (literal for piece in pieces for literal in by_piece[piece] if literal in line)


def _build_indexes(literals: list[str]) -> list[_PieceIndex]:
    indexes = []
    for width, stride in _CUTS:
        by_piece, literals = _index_by_piece(literals, width, stride)
        if by_piece:
            indexes.append(_PieceIndex(width, stride, frozenset(by_piece), by_piece))
    return indexes


def _index_by_piece(literals: list[str], width: int, stride: int) -> tuple[dict[str, list[str]], list[str]]:
    """Return the index, and the literals that are too short for this cut or would share a piece with too many."""
    counts = Counter(piece for literal in literals for piece in set(_all_pieces(literal, width)))
    by_piece: dict[str, list[str]] = defaultdict(list)
    rest = []
    for literal in literals:
        pieces = _all_pieces(literal, width)
        crowds = [counts[piece] for piece in pieces]
        start = min(range(len(pieces) - stride + 1), key=lambda at: max(crowds[at : at + stride]), default=None)
        if start is None or (stride > 1 and max(crowds[start : start + stride]) > _CROWD):
            rest.append(literal)
            continue
        for piece in set(pieces[start : start + stride]):
            by_piece[piece].append(literal)
    return dict(by_piece), rest


def _all_pieces(text: str, width: int) -> list[str]:
    return [text[start : start + width] for start in range(len(text) - width + 1)]
