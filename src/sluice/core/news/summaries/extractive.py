"""Chooses the sentences of a summary: the first that can stand alone, and up to two that add facts to it.

The first is the sentence that tells what the title tells. Never quoted are: what speaks to the reader or of the site
(`address.py`), captions and biographies (`fragments.py`), and what needs a sentence that is not quoted
(`dependence.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.news.analysts.words import content_words
from sluice.core.news.language import detect_language, may_be_in
from sluice.core.news.sentences import split_sentences
from sluice.core.news.summaries.address import addresses_reader, find_polite
from sluice.core.news.summaries.boilerplate import is_boilerplate
from sluice.core.news.summaries.dependence import (
    begins_with_generic_party,
    depends_on_another,
    lacks_subject,
    starts_with_anaphor,
    uses_short_name,
)
from sluice.core.news.summaries.fragments import is_biography, is_fragment, is_timeless
from sluice.core.news.summaries.relation import Pieces, count_known, count_uses, find_pieces, weigh_common

MAX_SENTENCES: Final = 3
MAX_CHARS: Final = 700
_MAX_SENTENCE_CHARS: Final = 400
_MAX_CANDIDATES: Final = 60  # sentences; news puts the important ones first
# Characters of a sentence worth quoting; an ideograph says more than a letter.
_MIN_CHARS: Final = 40
_MIN_CHARS_WITH_FIGURE: Final = 30
_MIN_WIDE_CHARS: Final = 12
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS: Final = (*".!…\u3002\uff01", *(f"{end}{quote}" for end in ".!\u3002\uff01" for quote in "\"'”\u2019)」』"))
_CUT_OFF: Final = ("...", "…")
_FIGURE: Final = re.compile(
    r"\d[\d.,]*|[一二三四五六七八九十百千万億亿]{2,}|[一二三四五六七八九]点[一二三四五六七八九]"
)
_NAME: Final = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w+")
_REPEATED: Final = 0.6
_MAX_NOTE: Final = 4  # sentences of a paragraph that is a notice of the site
# Below the last paragraphs of a long article stand its author, its licence and its offers.
_LONG: Final = 8
_TAIL: Final = 2
_RELATED: Final = 1.0
_HALF_RELATED: Final = 0.5
_MIN_KNOWN: Final = 2
_NEAR: Final = 3  # sentences after the lead
_DISTANCE: Final = 0.12
_MAX_PLACE_OF_LEAD: Final = 8
_CLOSE: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence of the article; `common` is what it shares with the title."""

    text: str
    pieces: Pieces
    common: float
    can_be_quoted: bool


def summarise(title: str, content: str) -> str:
    """Return one to three sentences in their original order; "" when there is none that can be published."""
    language = detect_language(content)
    candidates = _find_candidates(title, content, language)
    lead = _find_lead(candidates)
    if lead is None:
        return ""
    chosen = [lead]
    others = candidates[candidates.index(lead) + 1 :]
    uses = count_uses(each.text for each in candidates)
    for place, each in sorted(enumerate(others), key=lambda pair: pair[0] * _DISTANCE - _weigh(pair[1])):
        is_near = place < _NEAR and _FIGURE.search(each.text) is not None
        is_related = each.common + weigh_common(each.pieces, lead.pieces) >= _RELATED
        belongs = is_near or is_related or count_known(each.pieces, uses) >= _MIN_KNOWN
        if belongs and _can_follow(each) and not is_timeless(each.text, language) and _fits(each, chosen):
            chosen.append(each)
    ordered = sorted(chosen, key=candidates.index)
    return _join(_keep_supported(ordered, content))


def _find_candidates(title: str, content: str, language: str) -> list[_Candidate]:
    paragraphs = [split_sentences(line) for line in content.splitlines() if line.strip()]
    polite = find_polite([each for sentences in paragraphs for each in sentences], language)
    is_long = sum(sentences[-1].endswith(_ENDS) for sentences in paragraphs) >= _LONG
    tail_from = len(paragraphs) - (_TAIL if is_long else 0)
    wanted = find_pieces(title)
    found: list[_Candidate] = []
    for place, sentences in enumerate(paragraphs):
        for sentence in _drop_site_text(sentences[:_MAX_CANDIDATES], language, polite):
            pieces = find_pieces(sentence)
            common = weigh_common(pieces, wanted) if wanted else _RELATED
            can_be_quoted = place < tail_from and _is_quotable(sentence, title, language)
            if sentence.endswith(_ENDS):
                found.append(_Candidate(sentence, pieces, common, can_be_quoted))
        if len(found) >= _MAX_CANDIDATES:
            break
    return found


def _find_lead(candidates: Sequence[_Candidate]) -> _Candidate | None:
    """Return the first sentence that can stand alone and tells nearly as much of the title as any of the first ones."""
    first = candidates[:_MAX_PLACE_OF_LEAD]
    wanted = max((each.common for each in first), default=0.0) * _CLOSE
    has_begun = False
    for each in first:
        if each.common >= wanted:
            if _can_lead(each, is_opening=not has_begun):
                return each
            has_begun = has_begun or _is_long(each.text)
    return next((each for each in first if _can_lead(each, is_opening=False)), None)


def _drop_site_text(sentences: Sequence[str], language: str, polite: frozenset[str]) -> list[str]:
    """Return the sentences of a paragraph that tell news; a notice makes its neighbours suspect."""
    if not any(each.endswith(_ENDS) for each in sentences):
        return []
    marked = [each in polite or _is_site_text(each, language) for each in sentences]
    if len(sentences) <= _MAX_NOTE and sum(marked) * 2 > len(sentences):
        return []
    # What follows an author is about the author.
    author = next((place for place, each in enumerate(sentences) if is_biography(each)), len(sentences))
    kept = [each for each, is_note in zip(sentences[:author], marked[:author], strict=True) if not is_note]
    # What follows a question is its answer.
    asked = next((place for place, each in enumerate(sentences) if each.endswith(("?", "\uff1f"))), len(sentences))
    return [each for each in kept if each in sentences[:asked]]


def _is_site_text(sentence: str, language: str) -> bool:
    if len(sentence) > _MAX_SENTENCE_CHARS:
        return False  # never quoted, so nothing else is asked about it
    return is_boilerplate(sentence) or addresses_reader(sentence, language) or is_fragment(sentence, language)


def _is_quotable(sentence: str, title: str, language: str) -> bool:
    # A sentence that was split in the wrong place is recognised by its beginning.
    is_whole = not sentence[0].islower() and sentence[0] not in "([-,;:" and sentence.endswith(_ENDS)
    is_whole = is_whole and not sentence.endswith(_CUT_OFF)
    if not (is_whole and _is_long(sentence) and len(sentence) <= _MAX_SENTENCE_CHARS):
        return False
    return sentence.casefold().rstrip(".") != title.casefold().rstrip(".") and may_be_in(sentence, language)


def _is_long(sentence: str) -> bool:
    if _WIDE.search(sentence):
        return len(sentence) >= _MIN_WIDE_CHARS
    return len(sentence) >= (_MIN_CHARS_WITH_FIGURE if _FIGURE.search(sentence) else _MIN_CHARS)


def _can_lead(candidate: _Candidate, *, is_opening: bool) -> bool:
    """Return whether a sentence needs no other one, and tells of what the title tells."""
    sentence = candidate.text
    if not candidate.can_be_quoted or starts_with_anaphor(sentence) or begins_with_generic_party(sentence):
        return False
    if not is_opening and (depends_on_another(sentence) or lacks_subject(sentence, "")):
        return False
    has_facts = _FIGURE.search(sentence) is not None or _NAME.search(sentence) is not None
    return candidate.common >= (_HALF_RELATED if has_facts else _RELATED)


def _can_follow(candidate: _Candidate) -> bool:
    return candidate.can_be_quoted and not (starts_with_anaphor(candidate.text) or depends_on_another(candidate.text))


def _keep_supported(ordered: Sequence[_Candidate], content: str) -> list[str]:
    """Leave out a sentence about "the company" or "Hewson" if what stands before it names none."""
    kept: list[str] = []
    for sentence in (each.text for each in ordered):
        said, before = " ".join(kept), content[: content.find(sentence)]
        if not kept or not (lacks_subject(sentence, said) or uses_short_name(sentence, before, said)):
            kept.append(sentence)
    return kept[:MAX_SENTENCES]


def _weigh(candidate: _Candidate) -> float:
    figures = min(3, len(_FIGURE.findall(candidate.text)))
    names = min(3, len(_NAME.findall(candidate.text)))
    return figures + 0.4 * names + 0.3 * candidate.common


def _fits(candidate: _Candidate, chosen: Sequence[_Candidate]) -> bool:
    size = sum(len(each.text) + 1 for each in chosen) + len(candidate.text)
    if len(chosen) > MAX_SENTENCES or size > MAX_CHARS:
        return False
    said = " ".join(each.text for each in chosen)
    repeats = any(_repeats(candidate.text, each.text) for each in chosen)
    return not repeats and not lacks_subject(candidate.text, said)


def _repeats(one: str, other: str) -> bool:
    ours, theirs = _pieces(one), _pieces(other)
    return len(ours & theirs) >= _REPEATED * max(1, min(len(ours), len(theirs)))


def _pieces(text: str) -> set[str]:
    """Return the words of a text, or pairs of characters where words are not separated."""
    if _WIDE.search(text):
        return {text[at : at + 2] for at in range(len(text) - 1)}
    return set(content_words(text))


def _join(sentences: list[str]) -> str:
    is_wide = bool(sentences) and re.search(r"[\u3040-\u30ff\u3400-\u9fff]", sentences[0]) is not None
    return ("" if is_wide else " ").join(sentences)
