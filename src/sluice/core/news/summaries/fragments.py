"""Recognises what is no statement of the news: captions, biographies, and English sentences without a verb."""

import re
from typing import Final

_PAST: Final = (
    "began became bore bought broke brought built came caught chose cost cut did drew drove fell felt flew forgot found froze gave "
    "got grew had heard held hit hurt kept knew laid lay led left lent let lost made meant met paid put quit ran rang read rose "
    "said sank sat saw sent set shook shot shut slid sold spent split spoke stole stood stuck struck swung took taught thought "
    "told threw understood upheld was were went withdrew won wore wrote overtook outdid undercut spun sought dealt bet shrank spread"
)
_PRESENT: Final = (
    "is are has have will would can could may might must should does do says say shows show plans plan expects expect remains "
    "remain holds hold wants want faces face needs need owns own runs run makes make uses use operates operate accounts account "
    "includes include costs cost pays pay sees see keeps keep gives give takes take gets get comes come goes go rises rise falls "
    "fall stands stand warns warn estimates estimate believes believe argues argue controls control employs employ allows allow "
    "requires require applies apply covers cover offers offer charges charge draws draw trades trade manages manage supports "
    "support follows follow leads lead means mean gains gain loses lose adds add consists consist belongs belong remains produces "
    "produce consumes consume generates generate serves serve lists list counts count values value marks mark represents "
    "represent reflects reflect suggests suggest brings bring ends end starts start begins begin opens open closes close supplies"
)
# A sentence of the present that nobody says, and that tells of no change, may be a note of the site.
_REPORTED: Final = frozenset(
    f"{_PAST} will would has have says say shows plans plan expects expect warns estimates believes argues wants could may might must "
    "according rises falls".split()
)
_VERBS: Final = frozenset(f"{_PAST} {_PRESENT}".split())
_WORD: Final = re.compile(r"[a-z]+(?:n't)?")
_FIGURE: Final = re.compile(r"\d[\d.,]*")
_MIN_PAST: Final = 3
_MAX_FRAGMENT_CHARS: Final = 110
_NAME: Final = r"(?:[A-Z][\w.'-]+\s+){1,3}"
_BIOGRAPHY: Final = re.compile(
    rf"""^{_NAME}(?:(?:is|was)\s+(?:an?|the|our|based|currently|formerly|editor|head\ of\ research)\b|writes|covers|reports|edits|hosts|lives|studied|
    joined|specialis|specializ|focuses|teaches|has\s+(?:written|covered|reported|worked|been\ (?:an?|writing|covering|with|at)|followed|spent)|
    (?:ist|war)\s+(?:ein|der|die|Redakt|Autor|Journalist|Korrespondent|freie)|schreibt|berichtet|est\s+(?:journaliste|un|une|le|la)|couvre|
    es\s+(?:periodista|un|una|el|la)|cubre|escribe|é\s+(?:jornalista|um|uma|o|a)|cobre|escreve|è\s+(?:un|una|il|la|giornalista))""",
    re.VERBOSE,
)
_AMOUNT: Final = re.compile(
    r"[$€£¥₩₽]\s?\d|\d[\d.,]*\s?(?:%|percent|per cent|million|billion|bitcoin|BTC|Prozent|Millionen|Milliarden)"
)
# The present tense of what a picture shows.
_PICTURE: Final = re.compile(
    r"""\b(?:(?:walks?|stands?|speaks?|poses?|looks?|sits?|attends?|arrives?|gestures?|waits?|works?|queues?|waves?|smiles?|listens?|gathers?|
    protests?|passes|drives?|rides?)\s+(?:past|outside|during|at|on|in\ front|inside|near|next\ to|beside|behind|over|through|by|before|along|for\ a)
    |(?:is|are)\s+(?:seen|shown|pictured|displayed|photographed|reflected)|in\ this\ (?:\w+\ )?(?:illustration|photo|picture|image|file)|
    (?:illustration|photo|picture|image|photograph|screenshot)\ (?:taken|shows|by|from|of|released|provided)|\(?(?:left|right|centre|center)\)(?=[\s,.]))""",
    re.VERBOSE,
)
_PAIRS: Final = ("“”", "«»", "「」", "『』")
_RATED: Final = re.compile(r"(?:Rated|Trusted|Powered|Loved|Voted|Featured|Recommended|Brought)\b")


def is_fragment(sentence: str, language: str) -> bool:
    """Return whether a sentence is a caption, half a quotation, tells who the author is, or states nothing."""
    if _is_half_a_quotation(sentence) or is_biography(sentence):
        return True
    if language != "en":
        return False
    return _PICTURE.search(sentence) is not None or _RATED.match(sentence) is not None or _has_no_verb(sentence)


def is_timeless(sentence: str, language: str) -> bool:
    """Return whether an English sentence reports nothing: no past, no future, no amount, nobody who says it."""
    if language != "en" or _AMOUNT.search(sentence) or len(_FIGURE.findall(sentence)) > 1:
        return False
    words = _WORD.findall(sentence.replace("\u2019", "'"))
    return not any(word in _REPORTED or (word.endswith("ed") and len(word) > _MIN_PAST) for word in words)


def is_biography(sentence: str) -> bool:
    """Return whether a sentence tells who somebody is, as below an article."""
    return _BIOGRAPHY.match(sentence) is not None and not _AMOUNT.search(sentence)


def _is_half_a_quotation(sentence: str) -> bool:
    """Return whether a quotation begins or ends in another sentence."""
    is_uneven = sentence.count('"') % 2 == 1 or any(
        sentence.count(one) != sentence.count(other) for one, other in _PAIRS
    )
    # German closes with the mark that English opens with.
    return is_uneven if "„" not in sentence else sentence.count("„") != sentence.count("“") + sentence.count("”")


def _has_no_verb(sentence: str) -> bool:
    words = _WORD.findall(sentence.replace("\u2019", "'"))
    has_verb = any(word in _VERBS or (word.endswith("ed") and len(word) > 3) or word.endswith("n't") for word in words)
    return len(sentence) <= _MAX_FRAGMENT_CHARS and not has_verb
