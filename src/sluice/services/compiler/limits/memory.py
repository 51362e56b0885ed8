"""How much memory the text of a list needs, and how much of it one compilation may have.

Python holds a text in one, two or four bytes for each character, after its widest one: one emoji in a joined list makes
all of it four times as large. So sources are decoded in pieces that end at a line, lines are joined only a megabyte at
a time (`core/filters/syntax/line_chunks.py`), and the estimate counts each line by its own width.
"""

import re
from dataclasses import dataclass
from typing import Final

from sluice.core.compiler.limits import ListTooLarge
from sluice.core.compiler.sources.line_splitting import PIECE_BYTES, count_lines, cut_pieces, decode_body, split_piece

# Python holds a text in one, two or four bytes for each character, after its widest one.
_WIDE: Final = re.compile("[\U00010000-\U0010ffff]")
_MIDDLE: Final = re.compile("[\u0100-\U0010ffff]")
LINE_BYTES: Final = 60  # of a line besides its text
# A longer line is copied as a whole while it is decoded and encoded; of others only a few are copied at a time.
_COPIES_OF_LONG_LINE: Final = 5

# A compilation needs two to three times its text, and a Worker has about 55 MB for it: the heap is 38 MB after the start,
# grows in steps of a fifth, and must stay below 100. A report of every dropped line needs four times as much.
MAX_TEXT_BYTES: Final = 24_000_000
MAX_REPORTED_BYTES: Final = 5_000_000
# A build of a published list holds nothing else meanwhile: its reply is not the list.
MAX_PUBLISHED_BYTES: Final = 30_000_000
MAX_SENT_BYTES: Final = 8_000_000  # of the text in a request, which is in memory a second time as its body


@dataclass(slots=True)
class TextBudget:
    """What is left for one compilation."""

    limit: int
    used: int = 0

    def take(self, size: int) -> None:
        """Count bytes of text; raise ListTooLarge if so many do not fit any more."""
        self.used += size
        if self.used > self.limit:
            raise ListTooLarge(
                f"the sources need more than {self.limit:,} bytes of memory as text, the limit for one list here:"
                " split the list, or compile it with the command line"
            )


def estimate_text_bytes(body: bytes | str) -> int:
    """Return about how many bytes the lines of a text take in memory, each as wide as its own widest character."""
    return count_lines(body) * LINE_BYTES + sum(map(_measure_piece, cut_pieces(body)))


def estimate_sent_bytes(text: str) -> int:
    """Return about how many bytes a text of a request takes in memory: besides its lines, it is there as a whole while it is read."""
    return estimate_text_bytes(text) + len(text) * (_measure_width(text) - 1)


def _measure_piece(piece: bytes | str) -> int:
    if piece.isascii() and len(piece) < 2 * PIECE_BYTES:
        return len(piece)
    return sum(map(_measure_line, split_piece(decode_body(piece))))


def _measure_line(line: str) -> int:
    copies = _COPIES_OF_LONG_LINE if len(line) > PIECE_BYTES else 1
    return len(line) * _measure_width(line) * copies


def _measure_width(text: str) -> int:
    if text.isascii() or _MIDDLE.search(text) is None:
        return 1
    return 4 if _WIDE.search(text) else 2
