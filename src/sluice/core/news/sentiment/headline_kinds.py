"""Headlines that report no event: guides, calendars, tables, open questions. They are neutral whatever their words."""

import re
from typing import Final

from sluice.core.news.vocabulary.sentiment import CALM, NO_EVENT, NO_EVENT_OPENS, PROCEDURES

_NO_NEWS: Final = re.compile(rf"^(?:{NO_EVENT_OPENS})\b|^what .* means?$|\b(?:{NO_EVENT})\b")
_PROCEDURE: Final = re.compile(rf"\b(?:{PROCEDURES})\b")
_CALM: Final = re.compile(rf"\b(?:{CALM})\b")
_SMALL_MOVE: Final = re.compile(
    r"\b(?:rises?|gains?|climbs?|up|adds?|falls?|slips?|drops?|down|dips?|eases?|loses?|higher|lower)\s+(?:by )?0\.[0-3]\d?%"
)
_OPEN_QUESTION: Final = re.compile(
    r"^(?:will|can|could|should|is|are|does|do|would|has|have|what|which|who|where|when|might|may|what's|how (?:much|many|long|will|would|could|can|does|do))\b|\bor\b|\bwhat next\b|\bwhat's next\b"
)
_DIRECTED_QUESTION: Final = re.compile(
    r"^(?:why\b|how (?:low|high|far)\b|what(?:'s| is) (?:behind|driving|causing))|\?\s*\w"
)
_SIGNED: Final = re.compile(r"^(?:btc|bitcoin|xbt|btc/usd|btcusd)\b[^+\-\u2212a-z]{0,20}([+\-\u2212])\d+(?:\.\d+)?%")


def find_signed_move(title: str) -> float:
    """Return 1 or -1 for a table that begins with Bitcoin's change, else 0."""
    found = _SIGNED.match(title)
    return 0.0 if found is None else 1.0 if found[1] == "+" else -1.0


def is_no_event(title: str) -> bool:
    """Return whether a title announces a guide, a list, a table or the like, or a move too small to matter."""
    return _NO_NEWS.search(title) is not None or _SMALL_MOVE.search(title) is not None


def is_open_question(title: str) -> bool:
    """Return whether a title asks without taking an answer for granted."""
    return title.endswith("?") and not _DIRECTED_QUESTION.search(title) and _OPEN_QUESTION.search(title) is not None


def is_procedure(title: str) -> bool:
    return _PROCEDURE.search(title) is not None


def is_calm(title: str) -> bool:
    return _CALM.search(title) is not None
