"""The rules that were added and removed between two versions, comments aside."""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Annotated, Final, NotRequired, TypedDict

from sluice.core.compiler.stage_metrics import Amount
from sluice.core.doc import Doc
from sluice.core.errors import NotFound
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.json_text import encode_utf8
from sluice.core.ports import Bucket
from sluice.services.compiler.published.keys import version_key
from sluice.services.compiler.published.sources.bundles import decompress

MAX_LISTED: Final = 20_000  # rules that were added, and as many that were removed
_HASH_BYTES: Final = 8

_Rules = Annotated[list[str], Doc(maximum=MAX_LISTED)]


class UnlistedRules(TypedDict):
    added: Amount
    removed: Amount


class Difference(TypedDict):
    added: _Rules
    removed: _Rules
    unlisted: NotRequired[Annotated[UnlistedRules, Doc("How many more there are, if not all are listed.")]]


async def load_text(bucket: Bucket, name: str, version: int) -> bytes:
    content = await bucket.get_bytes(version_key(name, version))
    if content is None:
        raise NotFound(f"list {name} has no version {version} any more")
    return decompress(content)


def compare_rules(old: Iterable[str], new: Iterable[str]) -> Difference:
    """Return the added and the removed rules, each once and in the order of its text; both texts are read twice.

    `unlisted` counts those beyond the first ones, if there are any.
    """
    old_hashes, new_hashes = _hash_rules(old), _hash_rules(new)
    added, more_added = _select_missing(new, old_hashes)
    removed, more_removed = _select_missing(old, new_hashes)
    difference: Difference = {"added": added, "removed": removed}
    if more_added or more_removed:
        difference["unlisted"] = {"added": more_added, "removed": more_removed}
    return difference


def _select_missing(lines: Iterable[str], known: "array[int]") -> tuple[list[str], int]:
    """Return the first rules that are not known, each once, and how many more there are."""
    missing: dict[str, None] = {}
    more: set[int] = set()
    for rule in iterate_rules(lines):
        hashed = _hash_rule(rule)
        if rule in missing or _contains(known, hashed):
            continue
        if len(missing) < MAX_LISTED:
            missing[rule] = None
        else:
            more.add(hashed)
    return list(missing), len(more)


def _hash_rules(lines: Iterable[str]) -> "array[int]":
    """Return the hashes of the rules in their order: the rules themselves as a set would take several times the text."""
    return array("Q", sorted(map(_hash_rule, iterate_rules(lines))))


def _hash_rule(rule: str) -> int:
    return int.from_bytes(hashlib.blake2b(encode_utf8(rule), digest_size=_HASH_BYTES).digest())


def _contains(hashes: "array[int]", wanted: int) -> bool:
    at = bisect_left(hashes, wanted)
    return at < len(hashes) and hashes[at] == wanted


def iterate_rules(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if not is_blank(line) and not is_comment(line))
