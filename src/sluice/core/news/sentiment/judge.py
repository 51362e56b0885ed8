"""Judges a headline: sentiment, score and confidence."""

from dataclasses import dataclass
from typing import Final

from sluice.core.news.language import is_english
from sluice.core.news.sentiment.clause_score import score_clause
from sluice.core.news.sentiment.clauses import split_clauses
from sluice.core.news.sentiment.headline_kinds import (
    find_signed_move,
    is_calm,
    is_no_event,
    is_open_question,
    is_procedure,
)
from sluice.core.news.sentiment.rewriting import rewrite

_MAX_CHARS: Final = 500
_MIN_SCORE: Final = 0.7  # a score nearer to zero is neutral
_FULL_SCORE: Final = 5.0  # a score of 1
_WEAK: Final = 1.0  # below it the description may decide
_DESCRIPTION_WEIGHT: Final = 0.5
_MAX_CALM: Final = 3.0  # a stronger score is not calm, whatever the words
_MAX_PROCEDURE: Final = 2.2
_OTHER_WEIGHT: Final = 0.15  # of a clause about another asset
_MAX_TURNED: Final = 0.75  # the confidence in a reversal, which is more easily misread than a plain statement
_QUOTES: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a headline was judged. `sentiment` is positive, negative, neutral, or unknown for a language that is not known."""

    sentiment: str
    score: float
    confidence: float


def judge_headline(title: str, description: str = "") -> Judgement:
    """Judge in the view of a reader who holds Bitcoin."""
    if not is_english(title, description):
        return Judgement("unknown", 0.0, 0.9)
    text = rewrite(_normalise(title))
    if sign := find_signed_move(text):
        return _judge_score(2.5 * sign, 1.0, is_inverted=False)
    if is_no_event(text) or is_open_question(text):
        return Judgement("neutral", 0.0, 0.85)
    total, clarity, is_inverted = _score_text(text)
    if description and abs(total) < _WEAK:
        total += _DESCRIPTION_WEIGHT * _score_text(rewrite(_normalise(description)))[0]
    if is_calm(text) and abs(total) < _MAX_CALM:
        return Judgement("neutral", 0.0, 0.8)
    if is_procedure(text) and abs(total) < _MAX_PROCEDURE:
        return Judgement("neutral", 0.0, 0.75)
    return _judge_score(total, clarity, is_inverted=is_inverted or "?" in text)


def _normalise(text: str) -> str:
    return " ".join(text[:_MAX_CHARS].translate(_QUOTES).replace("U.S.", "US").replace("U.K.", "UK").lower().split())


def _score_text(text: str) -> tuple[float, float, bool]:
    """Return the sum over the clauses, how clearly they agree, from 0 to 1, and whether a part was turned round."""
    total = good = bad = 0.0
    names_bitcoin = names_other = is_inverted = False
    for clause, share in split_clauses(text):
        score = score_clause(clause)
        # What the price does counts fully, also beside a reason: "… while Bitcoin keeps falling".
        weight = 1.0 if score.moves_bitcoin and share >= 0.5 else share
        if score.names_other and not score.names_bitcoin:
            weight *= _OTHER_WEIGHT
        total += weight * score.total
        good += weight * score.good
        bad += weight * score.bad
        names_bitcoin = names_bitcoin or score.names_bitcoin
        names_other = names_other or score.names_other
        is_inverted = is_inverted or score.is_inverted
    if names_other and not names_bitcoin:
        total *= 0.3
    return total, 1 - min(good, bad) / max(good, bad, 0.01), is_inverted


def _judge_score(total: float, clarity: float, *, is_inverted: bool) -> Judgement:
    score = round(max(-1.0, min(1.0, total / _FULL_SCORE)), 3)
    if abs(total) < _MIN_SCORE:
        return Judgement("neutral", score, 0.6)
    confidence = min(0.95, 0.5 + 0.12 * abs(total)) * (0.75 + 0.25 * clarity)
    if is_inverted:
        confidence = min(confidence, _MAX_TURNED)
    return Judgement("positive" if total > 0 else "negative", score, round(confidence, 2))
