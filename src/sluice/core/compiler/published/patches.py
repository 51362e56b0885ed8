"""The difference between two texts as `diff -n` writes it, under the directive of differential updates.

It works on the hashes of lines: two long lists as texts of Python would not fit into a Worker.
"""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

_HASH_BYTES: Final = 8


class Change(NamedTuple):
    """Lines `old_start` to `old_end` of the old text become lines `new_start` to `new_end` of the new one, from 0."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def write_patch(old: bytes, new: bytes, resource: str) -> bytes:
    """Return the patch that makes the old text the new one, byte for byte."""
    changes = find_changes(old, new)
    starts = _find_line_starts(new)
    body = b"".join(_write_change(change, new, starts) for change in changes)
    digest = hashlib.sha1(new, usedforsecurity=False).hexdigest()
    count = body.count(b"\n")
    return f"diff name:{resource} checksum:{digest} lines:{count}\n".encode() + body


def find_changes(old: bytes, new: bytes) -> list[Change]:
    """Return where the lines of two texts differ, from top to bottom."""
    old_hashes, new_hashes = _hash_lines(old), _hash_lines(new)
    anchors = [(-1, -1), *_find_anchors(old_hashes, new_hashes), (len(old_hashes), len(new_hashes))]
    changes = []
    for (old_before, new_before), (old_after, new_after) in pairwise(anchors):
        change = _trim(old_hashes, new_hashes, Change(old_before + 1, old_after, new_before + 1, new_after))
        if change.old_start < change.old_end or change.new_start < change.new_end:
            changes.append(change)
    return changes


def apply_patch(old: bytes, patch: bytes) -> bytes:
    """Return the new text; raises ValueError for a patch of another text."""
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


def _find_line_starts(text: bytes) -> "array[int]":
    """Return where each line begins, and where one after the last would."""
    starts = array("l", [0])
    while (end := text.find(b"\n", starts[-1])) >= 0:
        starts.append(end + 1)
    starts.append(len(text) + 1)
    return starts


def _hash_lines(text: bytes) -> "array[int]":
    hashes = array("Q")
    for line in _iterate_lines(text):
        hashes.frombytes(hashlib.blake2b(line, digest_size=_HASH_BYTES).digest())
    return hashes


def _iterate_lines(text: bytes) -> Iterator[bytes]:
    start = 0
    while (end := text.find(b"\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _find_anchors(old: "array[int]", new: "array[int]") -> list[tuple[int, int]]:
    """Return pairs of equal lines that are in both texts once and in the same order, as many as possible."""
    places: dict[int, int] = {}
    for at, line in enumerate(old):
        places[line] = -1 if line in places else at
    seen: dict[int, int] = {}
    for at, line in enumerate(new):
        if places.get(line, -1) >= 0:
            seen[line] = -1 if line in seen else at
    matches = [(places[line], at) for line, at in seen.items() if at >= 0]
    del places, seen
    return _select_increasing(matches)


def _select_increasing(matches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the matches, which are in the order of the new text, that is in order in both."""
    ends: list[int] = []  # the smallest old place at which a run of each length can end
    last: list[int] = []  # the match that ends there
    before = array("i", [-1]) * len(matches)
    for at, (old_place, _) in enumerate(matches):
        length = bisect_left(ends, old_place)
        if length == len(ends):
            ends.append(old_place)
            last.append(at)
        else:
            ends[length], last[length] = old_place, at
        before[at] = last[length - 1] if length else -1
    chosen = []
    at = last[-1] if last else -1
    while at >= 0:
        chosen.append(matches[at])
        at = before[at]
    return chosen[::-1]


def _trim(old: "array[int]", new: "array[int]", change: Change) -> Change:
    """Return the change without the equal lines at its begin and end, which are repeated elsewhere."""
    old_start, old_end, new_start, new_end = change
    while old_start < old_end and new_start < new_end and old[old_start] == new[new_start]:
        old_start, new_start = old_start + 1, new_start + 1
    while old_start < old_end and new_start < new_end and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return Change(old_start, old_end, new_start, new_end)
