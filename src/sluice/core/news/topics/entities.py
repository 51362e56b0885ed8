"""The entities that an article names: companies, persons, places, institutions and assets, as they are written."""

import re
from collections.abc import Iterator
from typing import Final

from sluice.core.news.language import is_english
from sluice.core.news.stories.headline_facts import HeadlineFacts, clean_title
from sluice.core.news.stories.names import aliases, find_names
from sluice.core.news.vocabulary.topics import AFTER_NAMES, BEFORE_NAMES, NO_ENTITIES, OTHER_NOUNS, TOLD_ASSETS

# Where the usual short form is not the name.
_AS_WRITTEN: Final = {
    "blackrock": "BlackRock",
    "jpmorgan": "JPMorgan",
    "fed": "Federal Reserve",
    "us": "United States",
    "uk": "United Kingdom",
    "eu": "European Union",
    "czech": "Czech Republic",
    "korea": "South Korea",
    "xrp": "XRP",
}
_ASSETS: Final = frozenset(TOLD_ASSETS.split())
_NO_ENTITIES: Final = frozenset(NO_ENTITIES.split())
_BEFORE_NAMES: Final = frozenset(BEFORE_NAMES.split())
_AFTER_NAMES: Final = frozenset(AFTER_NAMES.split())
_OTHER_NOUNS: Final = frozenset(OTHER_NOUNS.split())
_WORD: Final = re.compile(r"Mt\. ?Gox|[^\W_][\w&*.-]*[^\W_]|[^\W_]|[:;,.!?]")
_CAPITAL_WORDS: Final = 3
_MAX_ENTITIES: Final = 8
_MAX_CHARS: Final = 400


def find_entities(title: str, description: str) -> list[str]:
    """Return the entities of the title, then those of the feed's text that are generally known."""
    text = description[:_MAX_CHARS]
    names = [
        *_read_names(clean_title(title), only_known=not is_english(title, text)),
        *_read_names(text, only_known=True),
    ]
    assets = HeadlineFacts.from_text(title).assets | HeadlineFacts.from_text(text).assets
    spelt = [_AS_WRITTEN.get(asset, asset.capitalize()) for asset in sorted(assets & _ASSETS)]
    found = dict.fromkeys([*names, *spelt])
    # "Finney" after "Hal Finney" is no other entity.
    return [each for each in found if not any(f" {each}" in other for other in found)][:_MAX_ENTITIES]


def _read_names(text: str, *, only_known: bool) -> Iterator[str]:
    raw = [word.removesuffix("'s").removesuffix("\u2019s") for word in _WORD.findall(text)]
    lowered = tuple(word.lower() for word in raw)
    for name in find_names(raw, lowered):
        if name in _NO_ENTITIES or "-" in name:
            continue
        if name in aliases():
            yield _spell_known(name, raw, lowered)
        elif not only_known and name in lowered and _is_likely(raw, lowered.index(name)):
            yield _join_capitals(raw, lowered.index(name))


def _spell_known(name: str, raw: list[str], lowered: tuple[str, ...]) -> str:
    """Return the name, or the nickname as it stands in the text: a person is not the company."""
    if " ".join(lowered).find(name) >= 0 or name in _AS_WRITTEN:
        if name in _AS_WRITTEN:
            return _AS_WRITTEN[name]
        return raw[lowered.index(name)] if name in lowered else name.title()
    nicknames = [nick for nick, of in aliases().items() if of == name and nick in " ".join(lowered)]
    nick = max(nicknames, key=len, default=name)
    return raw[lowered.index(nick)] if nick in lowered else nick.title()


def _is_likely(raw: list[str], at: int) -> bool:
    """Return whether a capitalised word is a name. The first word of a title is one only before another capital, or before a verb."""
    if raw[at].lower() in _OTHER_NOUNS:
        return False
    if at > 0:
        return True
    following = raw[1] if len(raw) > 1 else ""
    return (
        following[:1].isupper()
        or (following.endswith(("s", "ed")) and not following.endswith("ss"))
        or following in _AFTER_NAMES
    )


def _join_capitals(raw: list[str], at: int) -> str:
    """Return the word with the capitalised words around it: "Hal Finney", "Ethereum Foundation"."""
    first = at - 1 if at > 0 and raw[at - 1][:1].isupper() and raw[at - 1].lower() not in _NO_ENTITIES else at
    last = at
    while last + 1 < len(raw) and last - first + 1 < _CAPITAL_WORDS and raw[last + 1][:1].isupper():
        last += 1
    words = raw[first : last + 1]
    return " ".join(words[1:] if len(words) > 1 and words[0].lower() in _BEFORE_NAMES else words)
