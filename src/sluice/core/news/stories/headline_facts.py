"""What a headline says, as far as headlines can be compared: names, numbers, acts, measures and assets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

from sluice.core.news.stories.names import aliases, find_names
from sluice.core.news.stories.numbers import Number, find_numbers
from sluice.core.news.stories.terms import Term, find_terms, synonyms
from sluice.core.news.vocabulary import stories as vocabulary

_MAX_CHARS: Final = 600
_LABEL: Final = re.compile(rf"^(?:{vocabulary.WIRE_LABELS})\s*", re.IGNORECASE)
_TAIL: Final = re.compile(
    r"\s+[-|\u2013\u2014]\s+[^-|\u2013\u2014]{2,40}$|:\s*(?:report|sources|source|filing|data)$", re.IGNORECASE
)
_WORD: Final = re.compile(r"[A-Za-z&*][\w&*'\u2019/]*(?:[.-][A-Za-z0-9]\w*)*\.?|[$€£¥]?\d[\d,]*(?:\.\d+)?%?")
_STOP: Final = frozenset(vocabulary.STOP_WORDS.split())
_PLANNED: Final = re.compile(vocabulary.PLANNED)
_UNDOING: Final = re.compile(
    rf"\b(?:{vocabulary.UNDOING.replace(' ', '|')})\w* (?:[\w'-]+ ){{0,3}}?({vocabulary.UNDONE.replace(' ', '|')})\b"
)
_SAME_NOUN: Final = {
    "lawsuit": "suit",
    "case": "suit",
    "investigation": "probe",
    "license": "licence",
    "tariffs": "tariff",
}
# "A to buy B" announces an act: it may be reported as a plan, and as done.
_ANNOUNCED: Final = re.compile(r"^[^,:]{2,50}? to [a-z]{3,}\b")
_NEGATED: Final = re.compile(rf"\b(?:{vocabulary.NEGATED})\b")
_HALTED: Final = re.compile(rf"\b(?:{vocabulary.HALTED})\b")
# The first that fits counts.
_KINDS: Final = (
    ("talks", re.compile(vocabulary.TALKS)),
    ("recap", re.compile(vocabulary.RECAP)),
    ("explainer", re.compile(vocabulary.EXPLAINER)),
    ("reaction", re.compile(vocabulary.REACTION)),
    ("forecast", re.compile(vocabulary.FORECAST)),
)
# What stands behind these words happened before the news, or beside it.
_BEFORE: Final = frozenset({"after", "following"})
_BESIDE: Final = frozenset({"as", "amid", "citing", "despite"})
_RELATIVE: Final = frozenset({"that", "who", "which"})
_ACTING: Final = frozenset({"sue", "rise", "fall", "buy", "sell", "steady"})
_ACTOR_REACH: Final = 3
_MIN_PREFIX: Final = 4  # "Citi" stands for "Citigroup"


@dataclass(frozen=True, slots=True)
class HeadlineFacts:
    """The facts of a headline. `kind` is event, talks, forecast, reaction, explainer or recap; `is_planned` says that the act is still to come."""

    words: tuple[str, ...]
    line: tuple[str, ...]  # the stems in their order
    stems: frozenset[str]
    names: frozenset[str]
    order: tuple[str, ...]
    numbers: tuple[Number, ...]
    acts: frozenset[str]
    measures: frozenset[str]
    assets: frozenset[str]
    # Acts with the name or asset right before them, and names with "to" or "from" before them.
    actors: frozenset[tuple[str, str]]
    directions: frozenset[tuple[str, str]]
    kind: str
    is_planned: bool
    is_announced: bool
    is_negated: bool
    is_halted: bool
    # Acts that happened before the news, and those together with acts beside it: "after the halt", "as hiring slows".
    earlier: frozenset[str]
    background: frozenset[str]
    # Nouns such as ban or appeal that somebody takes back.
    undone: frozenset[str]

    @classmethod
    def from_text(cls, text: str) -> Self:
        title = clean_title(text[:_MAX_CHARS])
        lowered = title.lower().replace("\u2019", "'")
        raw = [word.rstrip(".") for word in _WORD.findall(title)]
        words = tuple(word.lower().replace("\u2019", "'") for word in raw)
        acts = [term for term in find_terms(words, "acts") if term.name]
        assets = find_terms(words, "assets")
        names = frozenset(find_names(raw, words))
        line = tuple(stem_word(word) for word in words if word not in _STOP and word[0].isalpha())
        earlier = _find_behind(words, acts, _BEFORE)
        places = {name: place for name in names if (place := lowered.find(name)) >= 0}
        return cls(
            words=words,
            line=line,
            stems=frozenset(line),
            names=names,
            order=tuple(sorted(places, key=lambda name: (places[name], name))),
            numbers=tuple(find_numbers(lowered)),
            acts=frozenset(term.name for term in acts),
            measures=frozenset(term.name for term in find_terms(words, "measures")),
            assets=frozenset(term.name for term in assets),
            actors=frozenset(_find_actors(words, acts, assets, names)),
            directions=frozenset(_find_directions(words, names)),
            kind=next((kind for kind, pattern in _KINDS if pattern.search(lowered)), "event"),
            is_planned=_PLANNED.search(lowered) is not None and not any(term.name == "cancel" for term in acts),
            is_announced=_ANNOUNCED.search(lowered) is not None,
            is_negated=_NEGATED.search(_leave_out(words, acts)) is not None,
            is_halted=_HALTED.search(lowered) is not None,
            earlier=earlier,
            background=earlier | _find_behind(words, acts, _BESIDE) | _find_relative(words, acts),
            undone=frozenset(_SAME_NOUN.get(noun, noun) for noun in _UNDOING.findall(lowered)),
        )

    def names_in_force(self, noun: str) -> bool:
        """Return whether the title names a ban, an appeal or the like, and nobody takes it back."""
        names_it = any(_SAME_NOUN.get(word, word).startswith(noun) for word in self.words)
        is_kept = not (self.is_negated or self.is_halted or self.acts & {"dismiss", "cancel", "unban"})
        return names_it and noun not in self.undone and is_kept

    def mentions(self, name: str) -> bool:
        """Return whether a name or asset of another headline stands in this one."""
        if name in self.names or name in self.assets or name in self.words or f"{name}'s" in self.words:
            return True
        return len(name) >= _MIN_PREFIX and any(word.startswith(name) for word in self.words)


def clean_title(text: str) -> str:
    """Remove wire labels and the name of the source."""
    return _TAIL.sub("", _LABEL.sub("", " ".join(text.split())))


def stem_word(word: str) -> str:
    """Return the synonym or the stem of a word in lower case."""
    word = word.removesuffix("'s").removesuffix("'")
    if (known := synonyms().get(word) or synonyms().get(word.removesuffix("s"))) is not None:
        return known
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + (2 if ending == "s" else 3) and word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > 4 else word


def _leave_out(words: tuple[str, ...], acts: list[Term]) -> str:
    """Return the words without the phrases of acts: "will not sell" is an act of its own, and negates nothing."""
    covered = {at for term in acts if term.size > 1 for at in range(term.at, term.at + term.size)}
    return " ".join(word for at, word in enumerate(words) if at not in covered)


def _find_behind(words: tuple[str, ...], acts: list[Term], marks: frozenset[str]) -> frozenset[str]:
    """Return the acts that stand only behind one of the words."""
    start = next((at for at, word in enumerate(words) if at and word in marks), len(words))
    return frozenset(act.name for act in acts if act.at > start) - {act.name for act in acts if act.at < start}


def _find_relative(words: tuple[str, ...], acts: list[Term]) -> frozenset[str]:
    """Return the acts right behind "that" or "who"."""
    return frozenset(act.name for act in acts if act.at and words[act.at - 1] in _RELATIVE)


def _find_actors(
    words: tuple[str, ...], acts: list[Term], assets: list[Term], names: frozenset[str]
) -> Iterator[tuple[str, str]]:
    places = {term.at: term.name for term in assets}
    for act in acts:
        after = act.at + act.size
        before = range(act.at - 1, max(-1, act.at - 1 - _ACTOR_REACH), -1)
        if words[after : after + 1] == ("by",):
            before = range(after + 1, min(len(words), after + 1 + _ACTOR_REACH))
        who = next((name for at in before if (name := _name_at(words, at, places, names))), "")
        # An asset does not trade: in "a Bitcoin purchase" it is what is bought.
        if act.name in _ACTING and who and not (act.name in {"buy", "sell"} and who in places.values()):
            yield act.name, who


def _name_at(words: tuple[str, ...], at: int, assets: dict[int, str], names: frozenset[str]) -> str:
    word = words[at].removesuffix("'s")
    return assets.get(at) or aliases().get(word) or (word if word in names else "")


def _find_directions(words: tuple[str, ...], names: frozenset[str]) -> Iterator[tuple[str, str]]:
    for before, word in pairwise(words):
        name = aliases().get(word, word)
        if before in {"to", "into", "from"} and name in names:
            yield name, "from" if before == "from" else "to"
