"""Splits text into sentences, cuts text at the end of one, and measures it."""

import re
from typing import Final

# A full stop after these does not end a sentence.
_ABBREVIATIONS: Final = frozenset(
    {"approx", "co", "corp", "dept", "dr", "e.g", "est", "etc", "gen", "gov", "hon", "i.e", "inc", "jr", "ltd"}
    | {"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "mr", "mrs", "ms", "mt"}
    | {
        "prof",
        "rep",
        "rev",
        "sen",
        "sr",
        "st",
        "u.k",
        "u.n",
        "u.s",
        "u.s.a",
        "vs",
        "bn",
        "mn",
        "mio",
        "mrd",
        "a.m",
        "p.m",
    }
    | {"d.c", "s.e.c", "bzw", "ca", "nr", "dz", "z.b", "m", "mme", "sra", "lic", "v"}
)
_BEFORE_NUMBERS: Final = frozenset({"fig", "no", "nos", "vol"})
_END: Final = re.compile(
    r"""([.!?…]+["'\u201d\u2019»)\]]*)(?=\s+["'\u201c\u2018«(\[]?[\w$€£#@])|[\u3002\uff01\uff1f]+(?![\u3002\uff01\uff1f\u300d\u300f\u201d\uff09])|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d\uff09]+(?![とはがをにのでもや、])|\n+"""
)
_LETTERS_PER_IDEOGRAPH: Final = 2
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# In German a full stop makes a number an ordinal: "am 1. Juli", "im 2. Quartal".
_ORDINAL: Final = re.compile(
    r"\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Oct|Nov|Dez|Quartal|Halbjahr|Jahrhundert|Platz|Tag|Mal|Woche|Runde|Auflage)"
)
_LAST_WORD: Final = re.compile(r"([A-Za-z.]+)$")


def split_sentences(text: str) -> list[str]:
    """Return the sentences in order; a line break ends one too."""
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if _is_end(text, end):
            parts.append(text[start : end.end()].strip())
            start = end.end()
    parts.append(text[start:].strip())
    return [sentence for sentence in parts if sentence]


def measure_text(text: str) -> int:
    """Return the length of a text; an ideograph says as much as several letters."""
    return len(text) if text.isascii() else len(text) + _LETTERS_PER_IDEOGRAPH * len(_WIDE.findall(text))


def cut_at_sentence(text: str, max_chars: int) -> str:
    """Return at most `max_chars` characters, cut after a sentence if possible, otherwise after a word."""
    if len(text) <= max_chars:
        return text
    # Two characters more, so that a sentence end right at the limit is recognised.
    head = text[: max_chars + 2]
    ends = [end.end() for end in _END.finditer(head) if end.end() <= max_chars and _is_end(head, end)]
    # A cut within the first tenth would throw away nearly all of the text.
    if ends and ends[-1] >= max_chars // 10:
        return text[: ends[-1]].rstrip()
    space = text.rfind(" ", max_chars // 10, max_chars + 1)
    return text[: space if space > 0 else max_chars].rstrip()


def _is_end(text: str, end: "re.Match[str]") -> bool:
    if end[1] is None or not end[1].startswith(".") or end[1].startswith(".."):
        return True
    # A sentence does not begin with a small letter.
    if text[end.end() :].lstrip()[:1].islower():
        return False
    if text[end.start() - 1 : end.start()].isdigit() and _ORDINAL.match(text, end.end()):
        return False
    before = _LAST_WORD.search(text, max(0, end.start() - 12), end.start())
    word = before[1].lower() if before else ""
    if word in _BEFORE_NUMBERS and text[end.end() : end.end() + 3].lstrip()[:1].isdigit():
        return False
    # One capital letter is an initial: "J. Powell".
    return not (word in _ABBREVIATIONS or (len(word) == 1 and before is not None and before[1].isupper()))
