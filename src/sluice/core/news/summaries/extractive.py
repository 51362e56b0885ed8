"""Chooses the sentences of a summary: the first that can stand alone, and up to two that add facts to it."""

import re
from typing import Final

from sluice.core.news.analysts.words import content_words
from sluice.core.news.language import detect_language
from sluice.core.news.sentences import split_sentences
from sluice.core.news.summaries.boilerplate import is_boilerplate
from sluice.core.news.summaries.dependence import is_about_a_party, missing_subject, points_elsewhere

MAX_SENTENCES: Final = 3
MAX_CHARS: Final = 700
_MAX_SENTENCE_CHARS: Final = 400
_MAX_CANDIDATES: Final = 60  # sentences; news puts the important ones first
# Characters of a sentence worth quoting; an ideograph says more than a letter.
_MIN_CHARS: Final = 40
_MIN_WIDE_CHARS: Final = 12
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS: Final = (*".!…\u3002\uff01", *(f"{end}{quote}" for end in ".!\u3002\uff01" for quote in "\"'”\u2019)」』"))
_FIGURE: Final = re.compile(r"\d[\d.,]*")
_NAME: Final = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w+")
_REPEATED: Final = 0.6


def summarise(title: str, content: str) -> str:
    """Returns one to three sentences in their original order; "" when there is none that can be published."""
    language = detect_language(content)
    sentences = [each for each in split_sentences(content)[:_MAX_CANDIDATES] if _is_quotable(each, title, language)]
    lead = next((each for each in sentences if not points_elsewhere(each) and not is_about_a_party(each)), None)
    if lead is None:
        return ""
    chosen = [lead]
    others = sentences[sentences.index(lead) + 1 :]
    for each in sorted(others, key=lambda other: -_weigh(other, others.index(other), title)):
        if _fits(each, chosen) and not points_elsewhere(each):
            chosen.append(each)
    ordered = sorted(chosen, key=sentences.index)
    return _join(_keep_supported(ordered))


def _keep_supported(ordered: list[str]) -> list[str]:
    """Leaves out a sentence about "the company" if what stands before it names none."""
    kept: list[str] = []
    for sentence in ordered:
        if not kept or not missing_subject(sentence, " ".join(kept)):
            kept.append(sentence)
    return kept[:MAX_SENTENCES]


def _is_quotable(sentence: str, title: str, language: str) -> bool:
    is_wide = _WIDE.search(sentence) is not None
    # A sentence that was split in the wrong place is recognised by its beginning.
    is_whole = not sentence[0].islower() and sentence[0] not in "([-,;:" and sentence.endswith(_ENDS)
    fits = (_MIN_WIDE_CHARS if is_wide else _MIN_CHARS) <= len(sentence) <= _MAX_SENTENCE_CHARS
    if not (is_whole and fits) or sentence.casefold().rstrip(".") == title.casefold().rstrip("."):
        return False
    return not is_boilerplate(sentence) and _is_in_language(sentence, language)


def _is_in_language(sentence: str, language: str) -> bool:
    found = detect_language(sentence)
    # A short sentence may have no sign of its language.
    return found in {language, "und"}


def _weigh(sentence: str, place: int, title: str) -> float:
    title_words = set(content_words(title))
    shared = len(title_words & set(content_words(sentence))) / max(1, len(title_words))
    figures = min(3, len(_FIGURE.findall(sentence)))
    names = min(3, len(_NAME.findall(sentence)))
    return figures + 0.4 * names + 1.5 * shared - 0.12 * place


def _fits(sentence: str, chosen: list[str]) -> bool:
    size = sum(len(each) + 1 for each in chosen) + len(sentence)
    if len(chosen) > MAX_SENTENCES or size > MAX_CHARS:
        return False
    said = " ".join(chosen)
    return not missing_subject(sentence, said) and all(not _repeats(sentence, each) for each in chosen)


def _repeats(one: str, other: str) -> bool:
    ours, theirs = _pieces(one), _pieces(other)
    return len(ours & theirs) >= _REPEATED * max(1, min(len(ours), len(theirs)))


def _pieces(text: str) -> set[str]:
    """Returns words, or pairs of characters where words are not separated."""
    if _WIDE.search(text):
        return {text[at : at + 2] for at in range(len(text) - 1)}
    return set(content_words(text))


def _join(sentences: list[str]) -> str:
    is_wide = bool(sentences) and re.search(r"[\u3040-\u30ff\u3400-\u9fff]", sentences[0]) is not None
    return ("" if is_wide else " ").join(sentences)
