"""The difference between two texts as `diff -n` writes it, under the directive of differential updates.

It works on the hashes of lines: two long lists as texts of Python would not fit into a Worker.
"""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from sluice.core.compiler.published.text_lines import find_line_starts

_HASH_BYTES: Final = 8
_PARTS: Final = 8
_HALF_BITS: Final = 32
_LOWER_HALF: Final = (1 << _HALF_BITS) - 1


class Change(NamedTuple):
    """Lines `old_start` to `old_end` of the old text become lines `new_start` to `new_end` of the new one, from 0."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def write_patch(old: Iterable[bytes], new: bytes, resource: str) -> bytes:
    """Return the patch that makes the old text, which comes in chunks, the new one, byte for byte."""
    changes = find_changes(hash_lines(old), hash_lines([new]))
    starts = find_line_starts(new)
    body = b"".join(_write_change(change, new, starts) for change in changes)
    digest = hashlib.sha1(new, usedforsecurity=False).hexdigest()
    count = body.count(b"\n")
    return f"diff name:{resource} checksum:{digest} lines:{count}\n".encode() + body


def find_changes(old: "array[int]", new: "array[int]") -> list[Change]:
    """Return where the lines of two texts differ, by their hashes, from top to bottom."""
    changes = []
    old_before = new_before = -1
    for old_after, new_after in chain(_iterate_anchors(old, new), [(len(old), len(new))]):
        change = _trim(old, new, Change(old_before + 1, old_after, new_before + 1, new_after))
        if change.old_start < change.old_end or change.new_start < change.new_end:
            changes.append(change)
        old_before, new_before = old_after, new_after
    return changes


def apply_patch(old: bytes, patch: bytes) -> bytes:
    """Return the new text; raise ValueError for a patch of another text."""
    directive, _, body = patch.partition(b"\n")
    facts = dict(part.split(b":", 1) for part in directive.split(b" ")[1:])
    lines, commands = old.split(b"\n"), body.split(b"\n")[:-1]
    result: list[bytes] = []
    read = at = 0
    while at < len(commands):
        line, count = map(int, commands[at][1:].split(b" "))
        kind = commands[at][:1]
        kept_until = line - 1 if kind == b"d" else line
        result += lines[read:kept_until]
        read = max(read, kept_until)
        if kind == b"d":
            read += count
            at += 1
        else:
            result += commands[at + 1 : at + 1 + count]
            at += 1 + count
    new = b"\n".join([*result, *lines[read:]])
    if hashlib.sha1(new, usedforsecurity=False).hexdigest().encode() != facts[b"checksum"]:
        raise ValueError("the patch does not fit the text")
    return new


def _write_change(change: Change, new: bytes, starts: "array[int]") -> bytes:
    removal, addition = b"", b""
    if change.old_end > change.old_start:
        removal = b"d%d %d\n" % (change.old_start + 1, change.old_end - change.old_start)
    if change.new_end > change.new_start:
        added = new[starts[change.new_start] : starts[change.new_end] - 1]
        addition = b"a%d %d\n%b\n" % (change.old_end, change.new_end - change.new_start, added)
    return removal + addition


def hash_lines(chunks: Iterable[bytes]) -> "array[int]":
    """Return the hash of each line of a text that comes in chunks."""
    hashes = array("Q")
    rest = b""
    for chunk in chunks:
        text = rest + chunk if rest else chunk
        start = 0
        while (end := text.find(b"\n", start)) >= 0:
            hashes.frombytes(_hash_line(text[start:end]))
            start = end + 1
        rest = text[start:]
    hashes.frombytes(_hash_line(rest))
    return hashes


def _hash_line(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=_HASH_BYTES).digest()


def _iterate_anchors(old: "array[int]", new: "array[int]") -> Iterator[tuple[int, int]]:
    """Yield pairs of equal lines that are in both texts once and in the same order, as many as possible."""
    # The place in the new text stands in the upper half of each number, that in the old one in the lower half.
    matches = array("Q")
    for part in range(_PARTS):
        matches.extend(_match_part(old, new, part))
    matches = array("Q", sorted(matches))
    chosen = _select_increasing(array("l", (match & _LOWER_HALF for match in matches)))
    return ((matches[at] & _LOWER_HALF, matches[at] >> _HALF_BITS) for at in chosen)


def _match_part(old: "array[int]", new: "array[int]", part: int) -> Iterator[int]:
    """Yield the places of lines that are in both texts once; a part of all lines, because a table of all is large."""
    places: dict[int, int] = {}
    for at, line in enumerate(old):
        if line % _PARTS == part:
            places[line] = -1 if line in places else at
    seen: dict[int, int] = {}
    for at, line in enumerate(new):
        if line % _PARTS == part and places.get(line, -1) >= 0:
            seen[line] = -1 if line in seen else at
    return (at << _HALF_BITS | places[line] for line, at in seen.items() if at >= 0)


def _select_increasing(places: "array[int]") -> "array[int]":
    """Return the indexes of the longest part of the places that only grows."""
    ends = array("l")  # the smallest place at which a run of each length can end
    last = array("l")  # the index of that place
    before = array("l", [-1]) * len(places)
    for at, place in enumerate(places):
        length = bisect_left(ends, place)
        if length == len(ends):
            ends.append(place)
            last.append(at)
        else:
            ends[length], last[length] = place, at
        before[at] = last[length - 1] if length else -1
    chosen = array("l")
    at = last[-1] if last else -1
    while at >= 0:
        chosen.append(at)
        at = before[at]
    chosen.reverse()
    return chosen


def _trim(old: "array[int]", new: "array[int]", change: Change) -> Change:
    """Return the change without the equal lines at its begin and end, which are repeated elsewhere."""
    old_start, old_end, new_start, new_end = change
    while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
        old_start, new_start = old_start + 1, new_start + 1
    while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return Change(old_start, old_end, new_start, new_end)
