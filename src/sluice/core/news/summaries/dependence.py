"""Recognises sentences that point to another one: a pronoun, "the company", "However"."""

import re
from typing import Final

from sluice.core.news.analysts.words import content_words
from sluice.core.news.vocabulary import summaries as vocabulary

_ENGLISH: Final = re.compile(rf"""^["“]?(?:{vocabulary.OPENINGS})""")
# A definite description of somebody who was named before.
_DEFINITE: Final = re.compile(
    r"(?:(?:The|Der|Die|Das|Le|La|Les|El|Los|Las|Il|Lo|Gli|O|Os|As?(?=\s\w+(?:ção|são|dade|agem|ência|ância|resa|dida|pra|tora)s?\b))\s+|L')([\w-]+)(?:\s+([\w-]+))?"
)
_PARTIES: Final = frozenset(vocabulary.PARTIES.split())
# Everybody knows which one is meant, or the sentence says it.
_KNOWN_TO_ALL: Final = frozenset(vocabulary.KNOWN_TO_ALL.split())
# A name before them in the same sentence says who is meant.
_NAMED_PARTIES: Final = frozenset(vocabulary.NAMED_PARTIES.split())
# "The price of bitcoin", "La directora de Talis": what follows says which one.
_COMPLEMENT: Final = re.compile(
    r"\S+\s+[\w-]+\s+(?:(?:of|behind)\s+(?!the\b|this\b|that\b|these\b|those\b|its\b|their\b|his\b|her\b)|(?:de|del|du|da|do|di|della|von|der|des)\s+[A-Z])"
)
_OTHERS: Final = re.compile(rf"^(?:{vocabulary.OPENINGS_OF_OTHER_LANGUAGES})")
_MORE_OPENINGS: Final = re.compile(rf"(?:{vocabulary.MORE_OPENINGS})")
# A word in the middle that ties the sentence to the one before it.
_TIES: Final = re.compile(vocabulary.TIES)
# A pronoun after words in lower case only, so that nobody was named before it.
_EARLY_PRONOUN: Final = re.compile(
    r"\S+(?:\s[^A-ZÀ-Ý\s]\S*)*?\s(?:er|sie|ihm|ihn|dessen|deren|elles?|ils|lui|él|ell[ao]s?|el[ea]s?|dele|dela|lei)\b"
)
# "Before joining the bank, she …", "At Talis, he …", "Two weeks later, …": who or when stands in the sentence before.
_DANGLING: Final = re.compile(vocabulary.DANGLING)
# "…," they wrote; "Supporters say it …": whoever that is stands in the sentence before.
_SPEAKER: Final = re.compile(
    rf"""["“].*[,.!?]["”]\s+(?:he|she|they|it)\s+(?:{vocabulary.SPEECH})\b|[A-Z]\w+s\s+(?:{vocabulary.SPEECH})\s+(?:that\s+)?(?:it|this)\b"""
)
_OPENING_QUOTES: Final = "\"'“\u2018«„\u2039「『 \u00a0\u202f"
_PERSON: Final = re.compile(r"\b(?:he|she|him|his|hers?)\b")
_THING: Final = re.compile(r"\b(?:it|its)\b")
_SEVERAL: Final = re.compile(r"\b(?:they|them|their)\b")
_PLURAL: Final = re.compile(r"\w{3,}s\b|\b(?:and|people|police|men|women|children|staff|both|each|every\w*|anyone)\b")
_NAME: Final = re.compile(r"(?<!^)(?<!^[\"“])\b[A-Z]\w+|\bwho\b|^[\"“]?[A-Z]\w+ [A-Z]\w+")
_NOUN: Final = re.compile(
    r"\b(?!(?:after|before|when|while|since|until|under|despite|during|with|from|last|next|this|that|what|where|then|also|said|"
    r"once|even|because|although|though|and|but|the|for|was|has|had|not|one|two|who|how|why|enough|year|month|week)\b)[A-Za-z]\w{2,}"
)
_WITH_ARTICLE: Final = re.compile(r"\bthe ([a-z][\w-]+)\b(?! (?:of|that|which|who|behind|for|to)\b)")
_CAPITAL: Final = re.compile(r"(?:\b([A-Z][\w.'\u2019-]*)\s+)?\b([A-Z][a-z]\w+)")


def starts_with_anaphor(sentence: str) -> bool:
    """Return whether a sentence begins with a word whose meaning stands in another sentence, or quotes a pronoun."""
    plain = sentence.replace("\u2019", "'")
    said = plain.lstrip(_OPENING_QUOTES)
    return _SPEAKER.match(plain) is not None or any(
        pattern.match(said) for pattern in (_ENGLISH, _OTHERS, _MORE_OPENINGS, _DANGLING)
    )


def depends_on_another(sentence: str) -> bool:
    """Return whether a word in the middle of a sentence needs another one; the first sentence of an article needs none."""
    if _TIES.search(sentence) or _EARLY_PRONOUN.match(sentence):
        return True
    person, thing = _PERSON.search(sentence), _THING.search(sentence)
    if person and not _NAME.search(sentence, 0, person.start()):
        return True
    if thing and not _NOUN.search(sentence, 0, thing.start()):
        return True
    several = _SEVERAL.search(sentence)
    return several is not None and not _PLURAL.search(sentence, 0, several.start())


def begins_with_generic_party(sentence: str) -> bool:
    """Return whether a sentence begins with "the company" or the like, so that it cannot come first."""
    found = _DEFINITE.match(sentence)
    return found is not None and found[1] in _PARTIES and not _COMPLEMENT.match(sentence)


def lacks_subject(sentence: str, said: str) -> bool:
    """Return whether the sentence is about "the company" or "the bonds" and nothing of that was said."""
    if _mentions_unknown_party(sentence, said.lower()):
        return True
    found = _DEFINITE.match(sentence)
    if found is None or _COMPLEMENT.match(sentence):
        return False
    words = [word.lower() for word in found.groups() if word]
    # A name after the article needs no introduction: "The Fed", "The Lightning Network".
    is_german = sentence.startswith(("Der ", "Die ", "Das "))
    name = found[2] if is_german else found[1]
    if (name or "")[:1].isupper() or words[0] == "bitcoin":
        return False
    if words[0] in _PARTIES:
        return words[0] not in said.lower()
    return not any(word[: max(4, len(word) - 2)] in said.lower() for word in words)


def _mentions_unknown_party(sentence: str, said: str) -> bool:
    for found in _WITH_ARTICLE.finditer(sentence):
        noun = found[1]
        if noun not in _PARTIES or noun in _KNOWN_TO_ALL or noun in said:
            continue
        is_named = noun in _NAMED_PARTIES and _NAME.search(sentence, 0, found.start()) is not None
        if not is_named and noun not in sentence[: found.start()].lower():
            return True
    return False


def uses_short_name(sentence: str, before: str, said: str) -> bool:
    """Return whether a sentence says "Hewson" where only a sentence that is not quoted said "Margot Hewson"."""
    return any(
        f" {name}" not in f" {said}" and _is_introduced(name, before)
        for first, name in _CAPITAL.findall(sentence)
        if not _is_first_name(first)
    )


def _is_introduced(name: str, before: str) -> bool:
    return any(_is_first_name(first) for first in re.findall(rf"\b([A-Z][\w.'-]*)\s+{re.escape(name)}\b", before))


def _is_first_name(word: str) -> bool:
    return bool(word) and bool(content_words(word)) and not word.endswith(("'s", "\u2019s", "."))
