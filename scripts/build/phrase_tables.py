"""Reads the tables of phrases in `src/sluice/core/news/phrases`, and refuses what contradicts itself.

One entry stands on a line, its columns are parted by tabs; a line that begins with # is a comment. `[section]` heads the
entries below it; `[section 2026-11]` says in which month facts that age were looked through. Every fault is told with its
file and line, all of them at once.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_SECTION: Final = re.compile(r"\[([a-z][a-z -]*?)(?: (\d{4}-(?:0[1-9]|1[0-2])))?\]")
_WILDCARDS: Final = "$#%_"
_MIN_STEM: Final = 3  # stems are looked up by so many letters

STRONG_KINDS: Final = ("good", "bad")
KINDS: Final = (
    *("up", "down", "high", "low", *STRONG_KINDS, "undo", "relieve", "negation", "burden", "asset", "bitcoin", "other"),
    *("adversary", "criminal", "caught", "nothing"),
)
# What undoes everything undoes bad things too, and what means nothing means nothing else.
_OPPOSITE_KINDS: Final = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        *("up/down", "high/low", "good/bad", "up/bad", "down/good", "up/low", "down/high"),
        *("burden/asset", "burden/good", "asset/bad", "bitcoin/other", "bitcoin/adversary", "undo/relieve"),
    )
) | {frozenset({"nothing", kind}) for kind in KINDS if kind != "nothing"}
_OPPOSITE_USES: Final = frozenset({("up", "fall"), ("down", "rise"), ("high", "fall"), ("low", "rise")})
NO_ACT: Final = "no act"


class BadTables(Exception):
    """The tables have faults; each is a line `file:line: reason`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a table."""

    file: str
    line: int
    section: str
    month: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of headlines, its kinds with their strengths, and its acts."""

    text: str
    kinds: dict[str, float]
    acts: tuple[str, ...]


@dataclass(slots=True)
class Tables:
    """Reads tables, and collects their faults until `check` tells them."""

    folder: Path
    faults: list[str] = field(default_factory=list)

    def check(self) -> None:
        if self.faults:
            raise BadTables("\n".join(self.faults))

    def read(self, name: str, columns: int, sections: Collection[str] | None = None) -> list[Entry]:
        """Return the entries of a file; `sections` are the ones that it may have, None if it may have any."""
        entries: list[Entry] = []
        section = month = ""
        for number, text in enumerate((self.folder / name).read_text(encoding="utf-8").split("\n"), 1):
            if not text or text.startswith("#"):
                continue
            if found := _SECTION.fullmatch(text):
                section, month = found[1], found[2] or ""
                if sections is not None and section not in sections:
                    self.faults.append(f"{name}:{number}: there is no section “{section}”")
                continue
            entry = Entry(name, number, section, month, tuple(text.split("\t")))
            if reason := _find_form_fault(entry, columns, has_sections=sections is None or len(sections) > 0):
                self.refuse(entry, reason)
            else:
                entries.append(entry)
        return entries

    def refuse(self, entry: Entry, reason: str) -> None:
        self.faults.append(f"{entry.file}:{entry.line}: {reason}")

    def read_list(self, name: str, sections: Collection[str] | None = None) -> dict[str, list[str]]:
        """Return the words of each section."""
        return self._group(self.read(name, 1, sections), lambda entry: entry.columns[0])

    def read_patterns(self, name: str, sections: Collection[str] | None = None) -> dict[str, list[str]]:
        """Return the regular expressions of each section."""
        entries = self.read(name, 1, sections)
        for entry in entries:
            if reason := _find_pattern_fault(entry.columns[0]):
                self.refuse(entry, reason)
        return self._group(entries, lambda entry: entry.columns[0])

    def read_replacements(self, name: str, section: str) -> list[tuple[str, str]]:
        """Return patterns with what takes the place of what they match."""
        entries = self.read(name, 2, {section})
        for entry in entries:
            if reason := _find_pattern_fault(entry.columns[0]):
                self.refuse(entry, reason)
        return [(entry.columns[0], entry.columns[1]) for entry in self._drop_repeated(entries)]

    def read_meanings(
        self, name: str, sections: Collection[str], stems_in: Collection[str] = ()
    ) -> dict[str, dict[str, list[str]]]:
        """Return for each section the meanings with their words; a word has one meaning in a section."""
        found: dict[str, dict[str, list[str]]] = {}
        entries = self.read(name, 2, sections)
        for entry in entries:
            if entry.section in stems_in and (reason := _find_wildcard_fault(entry.columns[0], "")):
                self.refuse(entry, reason)
        for entry in self._drop_repeated(entries):
            word, meaning = entry.columns
            found.setdefault(entry.section, {}).setdefault(meaning, []).append(word)
        return found

    def read_acts(self, name: str) -> tuple[list[str], list[tuple[str, str]], list[str]]:
        """Return the acts, those that exclude each other, and those that follow an event."""
        entries = self.read(name, 0, {"acts", "opposites", "follow-ups"})
        acts = [entry for entry in entries if entry.section == "acts"]
        known = {entry.columns[0] for entry in self._drop_repeated(acts)}
        opposites: dict[frozenset[str], Entry] = {}
        for entry in entries:
            wanted = 2 if entry.section == "opposites" else 1
            if len(entry.columns) != wanted:
                self.refuse(entry, f"{len(entry.columns)} columns instead of {wanted}")
            elif unknown := sorted({*entry.columns} - known):
                self.refuse(entry, f"there is no act “{unknown[0]}”")
            elif entry.section == "opposites":
                first = opposites.setdefault(frozenset(entry.columns), entry)
                if first is not entry:
                    self.refuse(entry, f"“{'” and “'.join(entry.columns)}” stand in line {first.line} already")
        pairs = [(entry.columns[0], entry.columns[1]) for entry in opposites.values()]
        follow_ups = self._drop_repeated([entry for entry in entries if entry.section == "follow-ups"])
        return [entry.columns[0] for entry in acts], pairs, [entry.columns[0] for entry in follow_ups]

    def read_phrases(self, name: str, acts: Collection[str], opposites: Iterable[tuple[str, str]]) -> list[Phrase]:
        """Return the phrases of headlines; each stands on one line, with all that it says."""
        excluded = {frozenset(pair) for pair in opposites}
        phrases: list[Phrase] = []
        known: dict[str, tuple[Entry, Phrase]] = {}
        for entry in self.read(name, 3, ()):
            phrase = self._read_phrase(entry, acts)
            if phrase is None:
                continue
            if before := known.get(phrase.text):
                self.refuse(entry, _describe_repetition(phrase, *before))
                continue
            known[phrase.text] = entry, phrase
            if reason := _find_contradiction(phrase.kinds, phrase.acts, excluded):
                self.refuse(entry, f"“{phrase.text}” {reason}")
            phrases.append(phrase)
        return phrases

    def _read_phrase(self, entry: Entry, acts: Collection[str]) -> Phrase | None:
        text, kinds, named = entry.columns
        phrase = Phrase(text, {}, tuple(_split(named)))
        for part in _split(kinds):
            kind, _, strength = part.partition(" ")
            if reason := _find_kind_fault(kind, strength, phrase.kinds):
                self.refuse(entry, reason)
                return None
            phrase.kinds[kind] = float(strength or 1)
        unknown = [act for act in phrase.acts if act not in acts and act != NO_ACT]
        reason = f"there is no act “{unknown[0]}”" if unknown else ""
        if len({*phrase.acts}) < len(phrase.acts):
            reason = "an act stands twice"
        if not (phrase.kinds or phrase.acts):
            reason = f"“{text}” has neither a kind nor an act"
        forbidden = ("%" if phrase.acts else "") + ("_" if phrase.kinds else "")
        if reason := reason or _find_wildcard_fault(text, forbidden):
            self.refuse(entry, reason)
            return None
        return phrase

    def _drop_repeated(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries, and refuse those whose first column the same section has already."""
        known: dict[tuple[str, str], Entry] = {}
        for entry in entries:
            first = known.setdefault((entry.section, entry.columns[0]), entry)
            if first is entry:
                yield entry
            elif first.columns == entry.columns:
                self.refuse(entry, f"“{entry.columns[0]}” stands in line {first.line} already")
            else:
                said = f"“{entry.columns[1]}” here and “{first.columns[1]}” in line {first.line}"
                self.refuse(entry, f"“{entry.columns[0]}” is {said}")

    def _group(self, entries: Iterable[Entry], read: Callable[[Entry], str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for entry in self._drop_repeated(entries):
            found.setdefault(entry.section, []).append(read(entry))
        return found


def _split(column: str) -> list[str]:
    return [] if column == "-" else column.split(", ")


def _find_form_fault(entry: Entry, columns: int, *, has_sections: bool) -> str:
    if has_sections and not entry.section:
        return "an entry before the first section"
    if columns and len(entry.columns) != columns:
        return f"{len(entry.columns)} columns instead of {columns}"
    if any(not column or column != " ".join(column.split()) for column in entry.columns):
        return "an empty column, or spaces too many"
    return ""


def _find_pattern_fault(pattern: str) -> str:
    try:
        found = re.compile(pattern)
    except re.error as error:
        return f"no regular expression: {error}"
    return "the pattern fits an empty text" if found.fullmatch("") else ""


def _find_kind_fault(kind: str, strength: str, known: Collection[str]) -> str:
    if kind not in KINDS:
        return f"there is no kind “{kind}”"
    if kind in known:
        return f"two strengths, or twice the kind “{kind}”"
    if kind not in STRONG_KINDS:
        return f"“{kind}” has no strength" if strength else ""
    return (
        "" if re.fullmatch(r"\d(\.\d+)?", strength) and float(strength) else f"“{kind}” without a strength above zero"
    )


def _find_wildcard_fault(text: str, forbidden: str) -> str:
    first, *_ = words = text.split(" ")
    if text != text.lower() or "," in text:
        return f"“{text}” has a capital or a comma"
    for word in words:
        if word in _WILDCARDS and (word is first or word in forbidden):
            return f"“{word}” cannot stand here in “{text}”"
        if "*" in word.removesuffix("*") or (word not in _WILDCARDS and re.search(r"[#_$]|(?<!\d)%", word)):
            return f"a wildcard within the word “{word}”"
    if first.endswith("*") and len(first) <= _MIN_STEM:
        return f"the stem “{first}” is shorter than {_MIN_STEM} letters"
    return ""


def _find_contradiction(kinds: Collection[str], acts: Collection[str], excluded: Collection[frozenset[str]]) -> str:
    for pairs, uses in ((_OPPOSITE_KINDS, kinds), (excluded, acts)):
        for pair in pairs:
            if len(pair) > 1 and pair <= {*uses}:
                return f"cannot be both “{'” and “'.join(sorted(pair))}”"
    if NO_ACT in acts and len(acts) > 1:
        return "is an act and none"
    return next(
        (
            f"is “{kind}” for the sentiment and “{act}” for the stories"
            for kind, act in sorted(_OPPOSITE_USES)
            if kind in kinds and act in acts
        ),
        "",
    )


def _describe_repetition(phrase: Phrase, first: Entry, earlier: Phrase) -> str:
    for kind in phrase.kinds.keys() & earlier.kinds.keys():
        ours, theirs = phrase.kinds[kind], earlier.kinds[kind]
        if ours != theirs:
            return f"“{phrase.text}” has the strength {ours:g} here and {theirs:g} in line {first.line}"
    if phrase == earlier:
        return f"“{phrase.text}” stands in line {first.line} already"
    if reason := _find_contradiction({*phrase.kinds, *earlier.kinds}, (*phrase.acts, *earlier.acts), ()):
        return f"with line {first.line} “{phrase.text}” {reason}"
    return f"“{phrase.text}” stands in line {first.line} too: write all that it says there"
