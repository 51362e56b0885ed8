"""The difference between two versions of a list: counts, and the first of the rules."""

from collections.abc import Iterable, Iterator
from typing import Final, TypedDict

from sluice.core.compiler.stage_metrics import Amount
from sluice.core.timestamps import Timestamp

MAX_SHOWN: Final = 200


class VersionDiff(TypedDict):
    """The difference between two versions, with the first 200 rules of each kind."""

    added: Amount
    removed: Amount
    unchanged: Amount
    addedRules: list[str]
    removedRules: list[str]


class PreviousVersion(TypedDict):
    ruleCount: Amount
    compiledAt: Timestamp
    diff: VersionDiff


def diff_versions(old: Iterable[str], new: Iterable[str]) -> VersionDiff:
    """Compare the rules of two versions. Comments do not count: the date in the header differs every time.

    The old lines are read once and not kept: two long lists in memory would be too much.
    """
    is_old = dict.fromkeys(_select_rules(new), False)
    removed: dict[str, None] = {}
    for rule in _select_rules(old):
        if rule in is_old:
            is_old[rule] = True
        else:
            removed[rule] = None
    unchanged = sum(is_old.values())
    return {
        "added": len(is_old) - unchanged,
        "removed": len(removed),
        "unchanged": unchanged,
        "addedRules": _take(rule for rule, known in is_old.items() if not known),
        "removedRules": _take(removed),
    }


def split_chunks(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a text that comes in chunks."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode() for line in lines)
    yield rest.decode()


def _select_rules(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if line and not line.startswith("!"))


def _take(rules: Iterable[str]) -> list[str]:
    return [rule for rule, _ in zip(rules, range(MAX_SHOWN), strict=False)]
