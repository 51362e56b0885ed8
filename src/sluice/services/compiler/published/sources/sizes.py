"""How large the sources of a list are, and what they may be together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

from sluice.core.compiler.limits import ListTooLarge
from sluice.services.compiler.limits.memory import MAX_PUBLISHED_BYTES, estimate_text_bytes
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.published.sources.bundles import Bundle


class FileSize(NamedTuple):
    """The bytes of a file, and of its text in memory."""

    content: int
    memory: int


@dataclass(frozen=True, slots=True)
class SourceSize:
    """The sizes of a source's files by their address, and how many lines it has with what it includes."""

    files: Mapping[str, FileSize] = field(default_factory=dict)
    lines: int = 0

    @classmethod
    def measure(cls, bundle: Bundle, lines: int) -> Self:
        sizes = {url: FileSize(len(file.body), estimate_text_bytes(file.body)) for url, file in bundle.files.items()}
        return cls(sizes, lines)


NO_SIZE: Final = SourceSize()


def find_excess(sizes: Iterable[SourceSize]) -> ListTooLarge | None:
    """Return the error, with the sum and the limit, of sources that are too large together, in whatever order they came."""
    every = list(sizes)
    files = {url: size for one in every for url, size in one.files.items()}  # what several include is read once
    sums = (
        (sum(size.content for size in files.values()), LIMITS.total_bytes, "have {:,} bytes"),
        (sum(one.lines for one in every), LIMITS.total_lines, "have {:,} lines"),
        (sum(size.memory for size in files.values()), MAX_PUBLISHED_BYTES, "need {:,} bytes of memory as text"),
    )
    for total, limit, words in sums:
        if total > limit:
            return ListTooLarge(
                f"all sources together {words.format(total)}, and the limit is {limit:,}: split the list"
            )
    return None
