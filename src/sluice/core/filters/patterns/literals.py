"""Finds many literal texts in one long text in a single pass, at a cost that hardly depends on their number.

The text is read as numbers of four or eight bytes, one at each multiple of four. A literal is indexed under four
consecutive pieces of its own, so that wherever it stands in the text, one of them is among those numbers.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from sluice.core.filters.patterns.work import WorkBudget

_STRIDE: Final = 4
# The formats of memoryview and their widths: literals of at least width + stride - 1 bytes, the longest first.
_PIECES: Final[tuple[tuple[Literal["Q", "I"], int], ...]] = (("Q", 8), ("I", 4))
# Up to this many, searching for each one is faster.
_FEW: Final = 8
_COMPARISON_WORK: Final = 200
_SEARCHED_BYTES: Final = 2  # for a unit of work


class _PieceIndex(NamedTuple):
    format: Literal["Q", "I"]
    width: int
    by_piece: dict[int, list[tuple[int, bytes]]]


class Literals:
    """A set of literal texts that are searched together in lines; no literal is empty."""

    def __init__(self, literals: list[str]) -> None:
        self._short = [literal.encode("utf-8", "surrogatepass") for literal in literals if "\n" not in literal]
        self._indexes: list[_PieceIndex] = []
        for piece_format, width in _PIECES:
            long = [literal for literal in self._short if len(literal) >= width + _STRIDE - 1]
            if len(long) > _FEW:
                self._indexes.append(_PieceIndex(piece_format, width, _index_pieces(long, width)))
                self._short = [literal for literal in self._short if len(literal) < width + _STRIDE - 1]

    def find_all(self, text: bytes, budget: WorkBudget) -> Iterator[tuple[int, bytes]]:
        """Yield each literal with its first position in each line, and maybe others of that line, in no order."""
        for literal in self._short:
            budget.take(len(text) / _SEARCHED_BYTES)
            at = text.find(literal)
            while at >= 0:
                yield at, literal
                line_end = text.find(b"\n", at)
                at = text.find(literal, line_end) if line_end >= 0 else -1
        for index in self._indexes:
            yield from _find_indexed(text, index, budget)


def _find_indexed(text: bytes, index: _PieceIndex, budget: WorkBudget) -> Iterator[tuple[int, bytes]]:
    by_piece = index.by_piece
    for shift in range(0, index.width, _STRIDE):
        end = len(text) - (len(text) - shift) % index.width
        numbers = memoryview(text)[shift : max(end, shift)].cast(index.format)
        for at in [at for at, number in enumerate(numbers) if number in by_piece]:
            candidates = by_piece[numbers[at]]
            budget.take(len(candidates) * _COMPARISON_WORK)
            for offset, literal in candidates:
                start = shift + at * index.width - offset
                if start >= 0 and text.startswith(literal, start):
                    yield start, literal


def _index_pieces(literals: list[bytes], width: int) -> dict[int, list[tuple[int, bytes]]]:
    """Index each literal under the consecutive pieces that the fewest literals share."""
    counts = Counter(piece for literal in literals for piece in set(_cut(literal, width)))
    by_piece: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for literal in literals:
        pieces = _cut(literal, width)
        counts_at = [counts[piece] for piece in pieces]
        start = min(range(len(pieces) - _STRIDE + 1), key=lambda at: max(counts_at[at : at + _STRIDE]))
        for offset in range(start, start + _STRIDE):
            by_piece[_to_number(pieces[offset])].append((offset, literal))
    return dict(by_piece)


def _cut(literal: bytes, width: int) -> list[bytes]:
    return [literal[start : start + width] for start in range(len(literal) - width + 1)]


def _to_number(piece: bytes) -> int:
    return int(memoryview(piece).cast("Q" if len(piece) == 8 else "I")[0])
