"""The forms of a verb: a phrase of the vocabulary that begins with "breaks" is also found with break, broke and breaking."""

from collections.abc import Iterator
from typing import Final

_IRREGULAR: Final = {
    verb: forms.split()
    for verb, forms in (
        ("beat", "beaten"),
        ("become", "became"),
        ("bleed", "bled"),
        ("break", "broke broken"),
        ("bring", "brought"),
        ("buy", "bought"),
        ("come", "came"),
        ("draw", "drew drawn"),
        ("fall", "fell fallen"),
        ("find", "found"),
        ("flee", "fled"),
        ("freeze", "froze frozen"),
        ("get", "got"),
        ("give", "gave given"),
        ("go", "went gone"),
        ("grow", "grew grown"),
        ("hold", "held"),
        ("keep", "kept"),
        ("lead", "led"),
        ("leave", "left"),
        ("lose", "lost"),
        ("make", "made"),
        ("pay", "paid"),
        ("ride", "rode"),
        ("rise", "rose risen"),
        ("run", "ran"),
        ("see", "saw seen"),
        ("sell", "sold"),
        ("send", "sent"),
        ("shake", "shook shaken"),
        ("sink", "sank sunk"),
        ("stand", "stood"),
        ("steal", "stole stolen"),
        ("strike", "struck"),
        ("take", "took taken"),
        ("throw", "threw thrown"),
        ("win", "won"),
    )
}
_SIBILANTS: Final = ("ss", "sh", "ch", "x", "z", "o")
_VOWELS: Final = frozenset("aeiou")


def inflect(verb: str) -> Iterator[str]:
    """Yield the other forms of a verb in the third person: "breaks" gives break, broke, broken and breaking."""
    base = _find_base(verb)
    if not base:
        return
    yield base
    stem = base.removesuffix("e") if not base.endswith("ee") else base
    if _doubles(base):
        stem += base[-1]
    yield f"{stem}ing"
    if base in _IRREGULAR:
        yield from _IRREGULAR[base]
    elif base.endswith("y") and base[-2] not in _VOWELS:
        yield f"{base[:-1]}ied"
    else:
        yield f"{stem}ed"


def _find_base(verb: str) -> str:
    if len(verb) < 4 or not verb.endswith("s") or verb.endswith(("ss", "us", "is", "'s")):
        return ""
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith("es") and verb[:-2].endswith(_SIBILANTS):
        return verb[:-2]
    return verb[:-1]


def _doubles(base: str) -> bool:
    """Return whether the last letter is doubled, as in drop, dropped: in a short verb of one syllable, unlike open."""
    has_one_vowel = base[-2] in _VOWELS and _VOWELS.isdisjoint(base[:-2])
    return 3 <= len(base) <= 4 and has_one_vowel and base[-1] not in "aeiouwxy"
