"""The difference between two versions of a list: counts, and the first of the rules."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

MAX_SHOWN: Final = 200


def diff_versions(old: Sequence[str], new: Sequence[str]) -> dict[str, Any]:
    """Compares the rules of two versions. Comments do not count: the date in the header differs every time."""
    before, after = _rules(old), _rules(new)
    added = [rule for rule in after if rule not in before]
    removed = [rule for rule in before if rule not in after]
    return {
        "added": len(added),
        "removed": len(removed),
        "unchanged": len(after) - len(added),
        "addedRules": added[:MAX_SHOWN],
        "removedRules": removed[:MAX_SHOWN],
    }


def _rules(lines: Sequence[str]) -> Mapping[str, None]:
    """Returns each rule once, in order."""
    return dict.fromkeys(line for line in lines if line and not line.startswith("!"))
