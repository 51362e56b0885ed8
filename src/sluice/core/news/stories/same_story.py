"""Decides whether two articles report the same event: vetoes first, then the evidence that they share.

Two titles about one event may have hardly a word in common, and two about different events may differ in one word ("sues",
"settles"). Likeness alone decides neither. So the facts of the titles are compared (`headline_facts`), by these rules:

- A contradiction is a veto, whatever else is shared: opposite acts, swapped roles, other numbers of one type, each with a
  name that the other lacks, a plan and its act, another edition of a series. A wrong story misleads its readers; a missed
  one is only shown twice. So vetoes come first and need no weight.
- Without a veto, shared names, numbers, acts, measures and words are added up. Names and exact numbers weigh most, because
  two events hardly share them by chance. The third name and those after it count less: a list of companies is no event.
- More is needed the further the articles are apart in time, where no name or number is shared, and where both name an act
  and not the same. After `WINDOW` nothing is enough.
- Equal titles within 18 hours need no evidence; later an equal title of the same source is a new edition.
- The text below a title confirms what the other title says, but adds no facts of its own: a text mentions much besides.
  Only a text that is a reprint of the other is evidence itself.
- Two tests come last. Acts on different objects are no story unless a number is shared. Nor is good news beside bad news,
  which is judged only where it decides, because it costs most.

`./scripts/bench news` measures the weights and limits on labelled pairs of articles.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, Self

from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories.contradictions import (
    GENERIC,
    differs_in_one_phrase,
    has_different_objects,
    has_opposite_acts,
    has_swapped_roles,
    is_negation_of,
    is_result_against_deal,
)
from sluice.core.news.stories.headline_facts import HeadlineFacts
from sluice.core.news.stories.numbers import Number

WINDOW: Final = timedelta(hours=72)
_EDITION_AFTER: Final = timedelta(hours=18)  # an equal title of one source after this time is another edition
# The evidence that is needed; more after a day, and after two.
_ENOUGH: Final = 2.95
_LATER: Final = ((timedelta(hours=48), 3.0), (timedelta(hours=24), 1.0))
_WITHOUT_ANCHOR: Final = 2.0  # more is needed where neither a name nor a number is shared
_OTHER_ACTS: Final = 1.2  # more is needed where both name an act and not the same
_NAME: Final = 2.0
_SPECIFIC_NUMBER: Final = 2.0
_SPAN: Final = 1.0
_VAGUE_NUMBER: Final = 0.7
_ACT: Final = 1.0
_MEASURE: Final = 1.0
_STEM: Final = 0.5
_MAX_STEMS: Final = 6
_MORE: Final = 0.3  # of the value, for the third name or act and those after it
_COMPARED: Final = frozenset(
    {
        "money",
        "coins",
        "percent",
        "points",
        "version",
        "quarter",
        "date",
        "weekday",
        "hash",
        "power",
        "month",
        "count",
        "span",
    }
)
_MIN_EQUAL: Final = 4  # words that are the same in another order
_SERIES: Final = re.compile(
    r"(?=[^:]*\b(?:daily|weekly|monthly|hourly|today|morning|evening|week|day)\b)[^:]{4,50}:", re.IGNORECASE
)
_NEARLY_EQUAL: Final = 0.5  # share of common words from which a different act means a different event
# The product of two scores from which one title reports good news and the other bad: "gain access", "lose access".
_OPPOSITE_SCORES: Final = 0.02
_MAX_LEFTOVER: Final = 1
_ANCHORS: Final = 2
_MAX_READ: Final = 1_000  # texts whose facts and scores are remembered, because each change groups all articles again
_TEXT_CHARS: Final = 400
_REPRINT_WORDS: Final = 40
_REPRINT_SHARE: Final = 0.7


@dataclass(frozen=True, slots=True)
class ArticleFacts:
    """The facts of a title, and those of the text below it, if there is one."""

    title: HeadlineFacts
    text: HeadlineFacts | None
    words: frozenset[str]
    published: datetime
    source: str
    headline: str

    @classmethod
    def from_article(cls, article: PublishedArticle) -> Self:
        stored = article.article
        text = stored.description or stored.content
        return cls(
            title=_read_facts(stored.title),
            text=_read_facts(text[:_TEXT_CHARS]) if text else None,
            words=frozenset((stored.content or stored.description).lower().split()[:400]),
            published=article.published,
            source=stored.text("source_name") or stored.text("source_id"),
            headline=stored.title,
        )

    def mentions(self, name: str) -> bool:
        return self.title.mentions(name) or (self.text is not None and self.text.mentions(name))

    @property
    def score(self) -> float:
        """Whether the title is good or bad news, judged only when it decides something."""
        return _score_headline(self.headline)

    def has_number(self, number: Number) -> bool:
        texts = (self.title, self.text) if self.text else (self.title,)
        return any(number.equals(other) for text in texts for other in text.numbers)


@lru_cache(maxsize=_MAX_READ)
def _read_facts(text: str) -> HeadlineFacts:
    return HeadlineFacts.from_text(text)


@lru_cache(maxsize=_MAX_READ)
def _score_headline(headline: str) -> float:
    from sluice.core.news.sentiment import judge_headline  # noqa: PLC0415 - rare

    return judge_headline(headline).score


def is_same_story(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether both report the same single event: same actor, act, object and amount, same occasion."""
    apart = abs(one.published - other.published)
    if apart > WINDOW or is_vetoed(one, other):
        return False
    if _has_same_words(one.title, other.title) and apart <= _EDITION_AFTER:
        return True
    needed = _ENOUGH + next((more for limit, more in _LATER if apart > limit), 0.0)
    if not _shared_names(one, other) and not _shared_numbers(one, other):
        needed += _WITHOUT_ANCHOR
    a, b = one.title, other.title
    if a.acts and b.acts and not a.acts & b.acts:
        needed += _OTHER_ACTS
    if has_different_objects(a, b) and not _shared_numbers(one, other):
        return False
    return weigh_evidence(one, other) >= needed and not _has_opposite_news(one, other)


def is_vetoed(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether something in the articles excludes that they report the same event."""
    a, b = one.title, other.title
    return (
        a.kind != b.kind
        or _is_other_time(a, b)
        or (is_negation_of(a, b) and (bool(a.acts & b.acts) or _is_nearly_equal(a, b)))
        or _is_other_move(one, other)
        or _is_other_edition(one, other)
        or has_opposite_acts(a, b)
        or any(map(b.names_in_force, a.undone))
        or any(map(a.names_in_force, b.undone))
        or _has_other_numbers(a, b)
        or _has_other_things(one, other)
        or has_swapped_roles(a, b)
        or is_result_against_deal(a, b)
        or (_has_other_act(a, b) and not _has_same_news(one, other))
        or differs_in_one_phrase(a, b)
    )


def weigh_evidence(one: ArticleFacts, other: ArticleFacts) -> float:
    """Return a weight for all that two articles share."""
    a, b = one.title, other.title
    names = _shared_names(one, other)
    numbers = _shared_numbers(one, other)
    stems = (a.stems & b.stems) - GENERIC - names
    smaller = max(1, min(len(a.stems), len(b.stems)))
    return (
        _sum_up(len(names), _NAME)
        + sum(map(_weigh_number, numbers))
        + _sum_up(len(a.acts & b.acts), _ACT)
        + _MEASURE * len(a.measures & b.measures)
        + _STEM * min(len(stems), _MAX_STEMS)
        + len(a.stems & b.stems) / smaller
        + (2.0 if _is_reprint(one, other) else 0.0)
    )


def _shared_names(one: ArticleFacts, other: ArticleFacts) -> set[str]:
    found = {name for name in one.title.names if other.mentions(name)}
    return found | {name for name in other.title.names if one.mentions(name)}


def _shared_numbers(one: ArticleFacts, other: ArticleFacts) -> set[Number]:
    found = {number for number in one.title.numbers if other.has_number(number)}
    more = (number for number in other.title.numbers if one.has_number(number))
    return found | {number for number in more if not any(number.equals(known) for known in found)}


def _sum_up(count: int, value: float) -> float:
    return value * (min(count, 2) + _MORE * max(0, count - 2))


def _weigh_number(number: Number) -> float:
    if number.is_specific:
        return _SPECIFIC_NUMBER
    return _SPAN if number.type == "span" else _VAGUE_NUMBER


def _is_reprint(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether the texts are long enough to be compared and largely the same."""
    smaller = min(len(one.words), len(other.words))
    return smaller >= _REPRINT_WORDS and len(one.words & other.words) >= _REPRINT_SHARE * smaller


def _has_same_words(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    return a.words == b.words or (a.stems == b.stems and len(a.stems) >= _MIN_EQUAL and a.numbers == b.numbers)


def _is_other_edition(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether an equal title, the same series or "again" comes on another day."""
    if abs(one.published - other.published) <= _EDITION_AFTER:
        return False
    if ("again" in one.title.words) != ("again" in other.title.words):
        return True
    series = _SERIES.match(one.headline)
    is_series = series is not None and other.headline.lower().startswith(series[0].lower())
    return is_series or (one.source == other.source and one.title.words == other.title.words)


def _has_opposite_news(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether one is good news and the other bad, and no act is known to be the same: "gain access", "lose access"."""
    return not one.title.acts & other.title.acts and one.score * other.score <= -_OPPOSITE_SCORES


def _has_same_news(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether both are good news, or both bad, and at least one of the acts is not known."""
    return not (one.title.acts and other.title.acts) and one.score * other.score >= _OPPOSITE_SCORES


def _has_other_numbers(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether both have numbers of one type and none of them is equal."""
    shared = {number.type for number in a.numbers} & {number.type for number in b.numbers} & _COMPARED
    return any(
        not any(one.equals(other) for one in a.numbers if one.type == kind for other in b.numbers) for kind in shared
    )


def _has_other_things(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether each names something that the other lacks, or they are about different assets or measures."""
    a, b = one.title, other.title
    if any(_unshared_names(one, other)) and any(_unshared_names(other, one)):
        return True
    if a.assets and b.assets and (a.assets ^ b.assets) - {"bitcoin"}:
        return True
    if _moves_shares(a) != _moves_shares(b):
        return True
    return bool(a.measures and b.measures and not a.measures & b.measures)


def _moves_shares(text: HeadlineFacts) -> bool:
    return "shares" in text.measures and bool(text.acts & {"rise", "fall"})


def _unshared_names(one: ArticleFacts, other: ArticleFacts) -> Iterator[str]:
    return (name for name in one.title.names if not other.mentions(name) and name not in other.title.stems)


def _has_other_act(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether nearly equal titles differ in their verbs and share no known act."""
    if a.acts & b.acts:
        return False
    if not _is_nearly_equal(a, b):
        return False
    left = min(len(_leftover(a, b)), len(_leftover(b, a)))
    if not left or (a.acts and b.acts):
        return left > 0
    # Several other words for the same names and numbers are a paraphrase, not another act.
    anchors = len(a.names & b.names) + sum(number.is_specific for number in a.numbers if number in b.numbers)
    return anchors < _ANCHORS + (left <= _MAX_LEFTOVER)


def _is_nearly_equal(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    return len(a.stems & b.stems) >= _NEARLY_EQUAL * max(1, min(len(a.stems), len(b.stems)))


def _is_other_time(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether one reports a plan and the other the act itself."""
    if a.is_planned == b.is_planned:
        return False
    return not (a.is_announced if b.is_planned else b.is_announced)


def _is_other_move(one: ArticleFacts, other: ArticleFacts) -> bool:
    """Return whether two moves of a price, of which nothing but the share is known, are of different days."""
    a, b = one.title, other.title
    if abs(one.published - other.published) <= _EDITION_AFTER or not a.acts & b.acts & {"rise", "fall"}:
        return False
    types = {number.type for text in (a, b) for number in text.numbers}
    return types == {"percent"} and not a.names & b.names


def _leftover(a: HeadlineFacts, b: HeadlineFacts) -> frozenset[str]:
    return a.stems - b.stems - GENERIC - a.names - b.names
