"""The index that answers "why is this name blocked?" without reading the list.

Every rule that concerns one name stands in the shard of that name's last four labels, every other rule that may match a
name in the general shard. The rules of a name's shards decide as the whole list does, because no other rule can match.
"""

import json
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from sluice.core.filters.formats.entries import iterate_wider, read_badfilter, read_entries
from sluice.core.filters.verdicts import NameVerdicts, Verdict, find_rule_literal
from sluice.core.json_text import encode_json, encode_utf8

_RULES_PER_SHARD: Final = 500
_READ_LINES: Final = 10_000
_LABELS: Final = 4  # with fewer, all customers of a large host, such as *.s3.amazonaws.com, would share one shard
MAX_SHARDS: Final = 1_000
# The file of a rule by its number, and the line.
PackedPlace = tuple[int, int]
FindPlaces = Callable[[int, str], Iterable[PackedPlace]]


class Shards(TypedDict):
    shards: int
    files: list[list[str]]


class RulePlace(TypedDict):
    source: str
    file: str
    line: int


class Explanation(TypedDict):
    verdict: Verdict
    rule: str | None
    sources: list[RulePlace]


@dataclass(frozen=True, slots=True)
class ShardDirectory:
    """What is needed to find the shard of a name, and to read places: source and file by the number of the file."""

    shards: int
    files: Sequence[tuple[str, str]]

    def as_json(self) -> Shards:
        return {"shards": self.shards, "files": [list(file) for file in self.files]}

    @classmethod
    def from_json(cls, value: Shards) -> "ShardDirectory":
        return cls(value["shards"], [(source, file) for source, file in value["files"]])

    def shard_of(self, name: str) -> int:
        """Return the number of the shard in which a rule about this name stands."""
        return zlib.crc32(_cut(name, _LABELS).encode()) % self.shards

    def shards_of(self, name: str) -> list[int]:
        """Return the shards in which rules about a name and the names above it stand."""
        return sorted({self.shard_of(_cut(name, labels)) for labels in range(2, _LABELS + 1)})


def count_shards(rules: int) -> int:
    return max(1, min(MAX_SHARDS, rules // _RULES_PER_SHARD))


def build_shards(
    lines: Sequence[str], directory: ShardDirectory, find_places: FindPlaces
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each shard; the general one is called `general`."""
    numbers = [array("i") for _ in range(directory.shards)]
    general: dict[int, str] = {}
    # In parts, because the entries of a long list take more memory than the list.
    for start in range(0, len(lines), _READ_LINES):
        _assign_lines(lines[start : start + _READ_LINES], start, directory, numbers, general)
    for shard, assigned in enumerate(numbers):
        rows = [[at, lines[at], *_flatten(find_places(at, lines[at]))] for at in sorted(set(assigned))]
        yield str(shard), encode_utf8(encode_json(rows))
    rows = [[at, lines[at], literal, *_flatten(find_places(at, lines[at]))] for at, literal in sorted(general.items())]
    yield "general", encode_utf8(encode_json(rows))


def _assign_lines(
    lines: Sequence[str], start: int, directory: ShardDirectory, numbers: "list[array[int]]", general: dict[int, str]
) -> None:
    """Add each line, by its number, to the shards of its names, or to the general one with the text that it needs."""
    entries, skipped = read_entries(lines)
    for entry in entries:
        if "." in entry.name:
            numbers[directory.shard_of(entry.name)].append(start + entry.line)
        else:
            general[start + entry.line] = ""
    for line in skipped:
        if (literal := find_rule_literal(line.text)) is not None:
            general[start + line.line - 1] = literal
    for at, text in enumerate(lines, start):
        if "badfilter" in text and read_badfilter(text.strip()):
            general[at] = ""


def _cut(name: str, labels: int) -> str:
    return ".".join(name.rsplit(".", labels)[-labels:])


def explain(directory: ShardDirectory, name: str, shards: Iterable[bytes], general: bytes) -> Explanation:
    """Return the verdict on a name as DNS has it, the rule that decides, and every place of it."""
    concerns = _build_filter(name)
    rows = (row for shard in shards for row in json.loads(shard) if concerns(row[1].lower()))
    known = {row[0]: (row[1], row[2:]) for row in rows}
    known |= {row[0]: (row[1], row[3:]) for row in json.loads(general) if row[2] in name}
    numbers = sorted(known)
    decision = NameVerdicts([known[at][0] for at in numbers]).decide(name)
    if decision.line is None:
        return {"verdict": decision.verdict, "rule": None, "sources": []}
    rule, packed = known[numbers[decision.line]]
    places: list[RulePlace] = [
        {"source": directory.files[file][0], "file": directory.files[file][1], "line": line}
        for file, line in zip(packed[::2], packed[1::2], strict=True)
    ]
    return {"verdict": decision.verdict, "rule": rule, "sources": places}


def _build_filter(name: str) -> Callable[[str], bool]:
    """Return a fast check for rules that may be about a name or one above it; some sites have thousands of rules."""
    names = {name, *iterate_wider(name)}
    end = _cut(name, 2)

    def concerns(text: str) -> bool:
        if not text.isascii():
            return True
        if text.startswith("||") and text.endswith("^") and "*" not in text:
            return text[2:-1] in names
        return end in text

    return concerns


def _flatten(places: Iterable[PackedPlace]) -> Iterator[int]:
    return (number for place in places for number in place)
