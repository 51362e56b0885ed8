"""Reads the lines of a table of phrases, and finds what an editor leaves in a file and nobody sees."""

import codecs
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NEWS: Final = Path(__file__).parents[2] / "src/sluice/core/news"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def read_lines(path: Path, name: str, faults: list[str]) -> list[tuple[int, str]]:
    """Return the lines with their numbers, without those that nobody can read; `faults` gets what is wrong with the file."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        faults.append(f"{name}:1: the file cannot be read: {error.strerror}")
        return []
    if raw.startswith(_UTF_16):
        faults.append(f"{name}:1: the file is UTF-16 instead of UTF-8")
        return []
    if raw.startswith(codecs.BOM_UTF8):
        faults.append(f"{name}:1: the file begins with a byte order mark")
        raw = raw.removeprefix(codecs.BOM_UTF8)
    if b"\r" in raw:
        line = raw[: raw.index(b"\r")].count(b"\n") + 1
        faults.append(f"{name}:{line}: a carriage return: lines end with a line feed alone")
        raw = raw.replace(b"\r", b"")
    return [*_decode(raw, name, faults)]


def _decode(raw: bytes, name: str, faults: list[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(raw.split(b"\n"), 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            faults.append(f"{name}:{number}: the byte {line[error.start]:#04x} is no UTF-8")
            continue
        unseen = next((char for char in text if char != "\t" and unicodedata.category(char) in _INVISIBLE), "")
        if unseen:
            faults.append(f"{name}:{number}: U+{ord(unseen):04X} is invisible")
        else:
            yield number, text
