"""The checksum of a list, as AdGuard computes it."""

import base64
import hashlib
from collections.abc import Sequence
from typing import Final

_CHUNK_LINES: Final = 8_192  # hashed at a time, so that the whole text does not exist a second time


def format_checksum_line(lines: Sequence[str]) -> str:
    """Return the checksum line for a list of these other lines.

    It must be the first line: a source's own old checksum may follow further down, and verifiers take the first one.
    """
    return f"! Checksum: {compute_checksum(lines)}"


def compute_checksum(lines: Sequence[str]) -> str:
    """Return the unpadded base64 of the MD5 of the text without its empty lines."""
    digest = hashlib.md5(usedforsecurity=False)
    separator = ""
    for start in range(0, len(lines), _CHUNK_LINES):
        if filled := [line for line in lines[start : start + _CHUNK_LINES] if line]:
            digest.update((separator + "\n".join(filled)).encode())
            separator = "\n"
    if lines and not lines[-1]:
        digest.update(b"\n")
    return base64.b64encode(digest.digest()).decode().rstrip("=")
