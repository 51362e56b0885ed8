"""Recognises sentences that speak to the reader or in the name of the site: "you", "our", "Unlock …", polite forms."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from sluice.core.news.vocabulary.summaries import (
    COMMANDS,
    ENTRY_VERBS,
    NOUN_COMMANDS,
    OBJECTS,
    ORDERS,
    PERSONS,
    SITE,
    SITE_WITHOUT_WORD_ENDS,
)

_QUOTED: Final = re.compile(r"""“[^”]*”|"[^"]*"|«[^»]*»|„[^“”]*[“”]|「[^」]*」|『[^』]*』""")
_CASED: Final = frozenset({"en", "de"})  # "us" and "US", "sie" and "Sie"
_WIDE: Final = frozenset({"ja", "zh", "ko"})
# Pronouns of the first and second person.
_PERSONS: Final = {
    language: re.compile(
        words if language in _WIDE else rf"\b(?:{words})\b", re.NOFLAG if language in _CASED else re.IGNORECASE
    )
    for language, words in PERSONS.items()
}
_VERBS: Final = COMMANDS.replace(" ", "|")
_NOUN_VERBS: Final = NOUN_COMMANDS.replace(" ", "|")
_OBJECTS: Final = OBJECTS.replace(" ", "|")
_COMMANDS: Final = {
    "en": re.compile(
        rf"(?:(?:please|simply|just|now|also|then|always)\s+)?(?:(?:{_VERBS})\s+(?!(?:of|was|were|is|are|has|had|orders?)\b)"
        rf"|(?:{_NOUN_VERBS})\s+(?:{_OBJECTS})\b)",
        re.IGNORECASE,
    ),
    **{language: re.compile(words) for language, words in ORDERS.items()},
}
# A polite ending in an article that is written in the plain form speaks to the reader.
_POLITE: Final = {
    "ja": re.compile(r"(?:です|ます|ました|ません|でした)[。\uff01]?$"),
    "ko": re.compile(r"(?:니다|요)[.!]?$"),
}
# Something before a colon that is no clause: "Editor's note, 3 May: …", "Top movers: …".
_LABEL: Final = re.compile(r"(?=([^:\uff1a]{1,48}[:\uff1a]))\1(?!\d|\s?[\"“„«「])")
_MAX_LABEL_WORDS: Final = 6
_WIDE_LABEL: Final = re.compile(r"[^\s。、\uff0c\uff1a=\uff1d]{1,10}[\uff1a\uff1d=]")
_OPENS_NOTE: Final = "([{【\uff08※▶►■□◆●★☆→*_`|#~+<@§¶†‡"
_SEPARATORS: Final = re.compile(r"\s[|·•»/]\s|```|_{2,}|[▲▼△▽►▶➤✓✔]")
_PICTOGRAPHS: Final = frozenset({"So", "Sk", "Cs", "Co"})
# The article, the page or the author itself is the subject, or what the site sells.
_SITE: Final = re.compile(rf"\b(?:{SITE})\b|{SITE_WITHOUT_WORD_ENDS}", re.IGNORECASE)
_TIME_OF_ENTRY: Final = re.compile(
    rf"(?:(?:{ENTRY_VERBS})\b|\W?\b\d{{1,2}} (?:minutes?|hours?|days?) ago\b)|"
    r"\(?\d{1,2}\s?(?:[:.h]\s?\d{2}\s?(?:[ap]\.?m\.?|h|uhr|utc|gmt|e[sd]?t)?|[ap]\.?m\.?)\b",
    re.IGNORECASE,
)


def addresses_reader(sentence: str, language: str) -> bool:
    """Return whether a sentence addresses the reader, or tells of the site instead of the news."""
    plain = sentence.replace("\u2019", "'")
    unquoted = _QUOTED.sub(" ", plain)
    persons, commands = _PERSONS.get(language), _COMMANDS.get(language)
    if (persons and persons.search(unquoted)) or (commands and commands.match(plain)):
        return True
    return _is_exclaimed(unquoted) or _looks_like_a_note(plain) or _SITE.search(unquoted) is not None


def _is_exclaimed(unquoted: str) -> bool:
    return "!" in unquoted or "\uff01" in unquoted or _SEPARATORS.search(unquoted) is not None


def _looks_like_a_note(sentence: str) -> bool:
    """Return whether a label, a bracket, an emoji or a time of day opens the sentence."""
    if sentence[:1] in _OPENS_NOTE or unicodedata.category(sentence[:1] or " ") in _PICTOGRAPHS:
        return True
    if any(unicodedata.category(char) == "So" and ord(char) > 0x2190 for char in sentence):
        return True
    label = _LABEL.match(sentence)
    is_label = label is not None and len(label[1].split()) <= _MAX_LABEL_WORDS
    return is_label or any(pattern.match(sentence) for pattern in (_WIDE_LABEL, _TIME_OF_ENTRY))


def find_polite(sentences: Sequence[str], language: str) -> frozenset[str]:
    """Return the sentences in polite style, if most of the article is in plain style."""
    if (pattern := _POLITE.get(language)) is None:
        return frozenset()
    polite = frozenset(each for each in sentences if pattern.search(each))
    return polite if len(polite) * 2 <= len(sentences) else frozenset()
