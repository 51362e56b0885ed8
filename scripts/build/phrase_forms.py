"""Finds phrases that another one makes useless or contradicts: "surges" beside the stem "surg*", "opened" beside "opens".

They are compared as `src/sluice/core/news/sentiment/lexicon.py` finds them: of the phrases of equal length at a place the stronger one counts, of
equally strong ones the last, and stems come after whole words.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from runpy import run_path
from typing import Final

from phrase_files import NEWS

_inflect: Final = run_path(str(NEWS / "sentiment/inflection.py"))["inflect"]
# Kinds that are two values of one thing.
_SCALES: Final = {"down": "up", "low": "high", "bad": "good"}
_VERBS: Final = frozenset({"undo", "relieve"})
_WILDCARDS: Final = frozenset("$#%_")
_LETTERS: Final = 3  # by so many a stem is looked up


@dataclass(frozen=True, slots=True)
class Form:
    """A phrase as it is looked up: with one form of its first word, for one of its kinds."""

    words: tuple[str, ...]
    text: str
    kind: str
    rank: tuple[float, bool, int]

    @property
    def scale(self) -> str:
        return _SCALES.get(self.kind, self.kind)


class Forms:
    """All forms of the phrases; the groups are kinds, strengths and phrases in their order."""

    def __init__(self, groups: Iterable[tuple[str, float, str]]) -> None:
        self._by_line: dict[tuple[str, str], list[Form]] = defaultdict(list)
        self._by_start: dict[str, list[Form]] = defaultdict(list)
        self._count = 0
        for kind, strength, texts in groups:
            for text in texts.split(", "):
                self._add(text, kind, strength)

    def _add(self, text: str, kind: str, strength: float) -> None:
        first, *rest = text.split()
        verbs = _inflect(first) if rest or kind in _VERBS else ()
        for word in dict.fromkeys((first, *verbs)):
            form = Form((word, *rest), text, kind, (strength, word.endswith("*"), self._count))
            self._count += 1
            self._by_line[text, kind].append(form)
            self._by_start[word[:_LETTERS].rstrip("*")].append(form)

    def find_idle(self) -> Iterator[tuple[str, str, str]]:
        """Yield phrases and their kinds that never count, each with the phrase that counts instead."""
        for (text, kind), forms in self._by_line.items():
            found = [self._find_other(form) for form in forms]
            if all(found):
                yield text, kind, found[0]

    def find_opposed(self) -> Iterator[tuple[str, str, str]]:
        """Yield phrases and their kinds that are a form of another phrase of the opposite kind, which is the third."""
        for (text, kind), (form, *_) in self._by_line.items():
            for other in self._by_start[form.words[0][:_LETTERS].rstrip("*")]:
                if other.words == form.words and other.scale == form.scale and other.kind != kind:
                    yield text, kind, other.text

    def knows(self, text: str) -> bool:
        """Return whether a phrase stands in the text."""
        words = text.split()
        return any(
            all(map(_covers, form.words, words[at:], range(len(words)))) and len(form.words) <= len(words) - at
            for at, word in enumerate(words)
            for form in self._by_start.get(word[:_LETTERS], ())
        )

    def _find_other(self, form: Form) -> str:
        for other in self._by_start[form.words[0][:_LETTERS].rstrip("*")]:
            is_comparable = other.scale == form.scale and len(other.words) == len(form.words)
            if not is_comparable or (other.text, other.kind) == (form.text, form.kind):
                continue
            is_equal = (other.kind, other.rank[0]) == (form.kind, form.rank[0])
            if (is_equal or other.rank > form.rank) and all(
                map(_covers, other.words, form.words, range(len(form.words)))
            ):
                return other.text
        return ""


def _covers(wanted: str, word: str, place: int) -> bool:
    """Return whether the word of a phrase fits all that another one fits; a later one fits the plural too."""
    if wanted == word:
        return True
    if wanted in _WILDCARDS or word in _WILDCARDS:
        return False
    if wanted.endswith("*"):
        return word.removesuffix("*").startswith(wanted[:-1])
    return place > 0 and word == f"{wanted}s"
