"""How much memory the text of a list needs, and how much of it one compilation may have."""

import re
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Oversized

# Python holds a text in one, two or four bytes for each character, after its widest one.
_WIDE: Final = re.compile(rb"[\xf0-\xff]")
_MIDDLE: Final = re.compile(rb"[\xc4-\xff]")
_LINE_BYTES: Final = 60  # of a line besides its text

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

    def take(self, body: bytes) -> None:
        """Raises Oversized if the text does not fit any more."""
        self.used += estimate_text_bytes(body)
        if self.used > self.limit:
            raise Oversized(
                f"the sources need more than {self.limit:,} bytes of memory as text, the limit for one list here:"
                " split the list, or compile it with the command line"
            )


def estimate_text_bytes(body: bytes) -> int:
    """Returns about how many bytes the lines of a text take in memory."""
    # The widest texts count more than their four bytes: they are copied while they are decoded.
    width = 6 if _WIDE.search(body) else 2 if _MIDDLE.search(body) else 1
    return len(body) * width + body.count(b"\n") * _LINE_BYTES
