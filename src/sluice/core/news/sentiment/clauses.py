"""Splits a headline into clauses, each with its weight: the main clause decides, and the last state in a sequence."""

import re
from collections.abc import Iterator
from typing import Final

_CONCESSION: Final = (
    r"(?:despite|in spite of|even as|even though|even after|although|though|notwithstanding|regardless of)"
)
_FIRST_CONCESSION: Final = re.compile(rf"{_CONCESSION}\s(.+?),\s*(.+)")
_LATER_CONCESSION: Final = re.compile(rf",?\s{_CONCESSION}\s")
_TURN: Final = re.compile(
    r"(?:,|;|\s)\s*(?:but|yet(?! again| to)|then|however|now|only to|(?:is |was )?followed by|before(?=\s\w+ing\b))\s(?!(?:to|the end)\b)"
)
# "as a threat" is no clause.
_REASON: Final = re.compile(
    r",?\s(as(?! (?:an?|collateral|legal|part|payment|well|it)\b)|after|amid|amidst|while|because|since|when|following|"
    r"ahead of|thanks to|due to)\s"
)
_COMMA: Final = re.compile(r"[,;:]\s")
_WEIGHTS: Final = {
    "after": 0.3,
    "following": 0.3,
    "since": 0.1,
    "ahead of": 0.1,
    "amid": 0.4,
    "amidst": 0.4,
    "when": 0.4,
}
_REASON_WEIGHT: Final = 0.6
_BEFORE_TURN: Final = 0.1


def split_clauses(text: str) -> Iterator[tuple[str, float]]:
    """Yield the clauses of a text in lower case; a concession has no weight."""
    found = _FIRST_CONCESSION.match(text)
    main = found[2] if found else _LATER_CONCESSION.split(text)[0]
    parts = _TURN.split(main)
    for place, part in enumerate(parts):
        weight = 1.0 if place == len(parts) - 1 else _BEFORE_TURN
        for clause, share in _split_reasons(part):
            yield clause, weight * share


def _split_reasons(text: str) -> Iterator[tuple[str, float]]:
    pieces = _REASON.split(text)
    yield pieces[0], 1.0
    for word, clause in zip(pieces[1::2], pieces[2::2], strict=True):
        # What follows the reason after a comma belongs to the main clause again: "… after the hack, trades higher".
        reason, *rest = _COMMA.split(clause, maxsplit=1)
        yield reason, _WEIGHTS.get(word, _REASON_WEIGHT)
        for main in rest:
            yield main, 1.0
