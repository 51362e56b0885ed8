"""Reads the tables of phrases in `src/sluice/core/news/phrases`, and refuses what contradicts itself.

One entry stands on a line, its columns are parted by tabs; a line that begins with # is a comment. `[section]` heads the
entries below it; `[section 2026-11]` says in which month facts that age were looked through. Every fault is told with its
file and line, all of them at once.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from phrase_faults import (
    NO_ACT,
    Entry,
    Phrase,
    describe_repetition,
    find_contradiction,
    find_form_fault,
    find_kind_fault,
    find_pattern_fault,
    find_replacement_fault,
    find_wildcard_fault,
    find_word_fault,
)
from phrase_files import read_lines

_HEADING: Final = re.compile(r"\[([^\[\]\t]*)\]")
_SECTION: Final = re.compile(r"([a-z][a-z-]*(?: [a-z-]+)*)(?: (\d[\d-]*))?")
_MONTH: Final = re.compile(r"20[2-9]\d-(?:0[1-9]|1[0-2])")


class BadTables(Exception):
    """The tables have faults; each is a line `file:line: reason`."""


@dataclass(frozen=True, slots=True)
class Acts:
    """The acts, those that exclude each other, those that follow an event, and those that tell of no other one beside an act."""

    names: list[str]
    opposites: list[tuple[str, str]] = field(default_factory=list)
    follow_ups: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Tables:
    """Reads tables, and collects their faults until `check` tells them."""

    folder: Path
    faults: list[str] = field(default_factory=list)

    def check(self) -> None:
        if self.faults:
            raise BadTables("\n".join(self.faults))

    def read(
        self, name: str, columns: int, sections: Collection[str] | None = None, dated: Collection[str] = ()
    ) -> list[Entry]:
        """Return the entries of a file.

        `sections` are those that it has, None if it may have any; each of `dated` has a part with a month besides, for facts that age.
        """
        entries: list[Entry] = []
        headings: dict[tuple[str, bool], int] = {}
        section, number = "", 1
        lines = read_lines(self.folder / name, name, self.faults)
        for number, text in lines:
            if not text or text.startswith("#"):
                if "\t" in text:
                    self.faults.append(f"{name}:{number}: a comment with a tab: no entry begins with #")
                continue
            if found := _HEADING.fullmatch(text):
                section = self._read_heading(name, number, found[1], headings)
                continue
            entry = Entry(name, number, section, tuple(text.split("\t")))
            if reason := find_form_fault(entry, columns, has_sections=sections is None or len(sections) > 0):
                self.refuse(entry, reason)
            else:
                entries.append(entry)
        if sections is not None and lines:
            wanted = {(each, False) for each in sections} | {(each, True) for each in dated}
            self._compare_headings(name, number, headings, wanted)
        return entries

    def _read_heading(self, name: str, number: int, text: str, headings: dict[tuple[str, bool], int]) -> str:
        """Return the section that a heading begins."""
        found = _SECTION.fullmatch(text)
        month = found[2] if found else None
        if found is None:
            self.faults.append(f"{name}:{number}: “[{text}]” is no heading: small letters, and a month where facts age")
        elif month and not _MONTH.fullmatch(month):
            self.faults.append(f"{name}:{number}: “{month}” is no month since 2020-01")
        section = found[1] if found else text
        first = headings.setdefault((section, month is not None), number)
        if first != number:
            aged = "" if month else ", and a section of facts that age has its month"
            self.faults.append(f"{name}:{number}: the section “{section}” begins in line {first} already{aged}")
        return section

    def _compare_headings(
        self, name: str, last: int, headings: Mapping[tuple[str, bool], int], wanted: Collection[tuple[str, bool]]
    ) -> None:
        for (section, has_month), number in headings.items():
            if (section, has_month) not in wanted and _SECTION.fullmatch(section):
                what = "with a month " if has_month and (section, False) in wanted else ""
                self.faults.append(f"{name}:{number}: there is no section {what}“{section}”")
        for section, has_month in sorted({*wanted} - {*headings}):
            what = "with a month " if has_month else ""
            self.faults.append(f"{name}:{last}: the section {what}“{section}” is missing")

    def refuse(self, entry: Entry, reason: str) -> None:
        self.faults.append(f"{entry.file}:{entry.line}: {reason}")

    def read_list(
        self, name: str, sections: Collection[str], exclusive: Iterable[Collection[str]] = ()
    ) -> dict[str, list[str]]:
        """Return the words of each section; a word stands in one section of those that exclude each other."""
        entries = self.read(name, 1, sections)
        for entry in entries:
            if reason := find_word_fault(entry.columns[0]):
                self.refuse(entry, reason)
        self._refuse_shared(entries, exclusive)
        return self._group(entries)

    def read_patterns(
        self,
        name: str,
        sections: Collection[str],
        exclusive: Iterable[Collection[str]] = (),
        cased: Collection[str] = (),
    ) -> dict[str, list[str]]:
        """Return the regular expressions of each section; those of `cased` are compared with capitals."""
        entries = self.read(name, 1, sections)
        for entry in entries:
            if reason := find_pattern_fault(entry.columns[0], may_have_capitals=entry.section in cased):
                self.refuse(entry, reason)
        self._refuse_shared(entries, exclusive)
        return self._group(entries)

    def read_replacements(self, name: str, section: str, names: Mapping[str, str]) -> list[tuple[str, str, Entry]]:
        """Return patterns with what takes the place of what they match, the `names` in them filled in."""
        read: list[tuple[str, str, Entry]] = []
        for entry in self._drop_repeated(self.read(name, 2, {section}, {section})):
            pattern, new = entry.columns
            for each, meaning in names.items():
                pattern, new = pattern.replace(each, meaning), new.replace(each, meaning)
            if reason := find_replacement_fault(pattern, new):
                self.refuse(entry, reason)
            read.append((pattern, new, entry))
        return read

    def read_meanings(
        self,
        name: str,
        sections: Collection[str],
        *,
        dated: Collection[str] = (),
        stems_in: Collection[str] = (),
        single_in: Collection[str] = (),
        exclusive: Iterable[Collection[str]] = (),
    ) -> list[Entry]:
        """Return words with their meanings; a word has one meaning in a section. `stems_in` alone have wildcards."""
        entries = self.read(name, 2, sections, dated)
        for entry in entries:
            reason = find_wildcard_fault(entry.columns[0], "") if entry.section in stems_in else ""
            spaces = () if entry.section in single_in else (" ",)
            if reason := reason or find_word_fault(entry.columns[0], *spaces) or find_word_fault(entry.columns[1], " "):
                self.refuse(entry, reason)
        self._refuse_shared(entries, exclusive)
        return [*self._drop_repeated(entries)]

    def _refuse_shared(self, entries: Iterable[Entry], exclusive: Iterable[Collection[str]]) -> None:
        """Refuse what stands in two sections that exclude each other."""
        for sections in exclusive:
            known: dict[str, Entry] = {}
            for entry in entries:
                if entry.section not in sections:
                    continue
                first = known.setdefault(entry.columns[0], entry)
                if first.section != entry.section:
                    self.refuse(entry, f"“{entry.columns[0]}” stands in “{first.section}” too, line {first.line}")

    def read_acts(self, name: str) -> Acts:
        """Return the acts, and what the table says of two or of one of them."""
        entries = self.read(name, 0, {"acts", "opposites", "follow-ups", "beside"})
        names = [entry for entry in entries if entry.section == "acts"]
        acts = Acts([entry.columns[0] for entry in self._drop_repeated(names)])
        known: dict[Collection[str], Entry] = {}
        for entry in entries:
            wanted = 2 if entry.section in {"opposites", "beside"} else 1
            if len(entry.columns) != wanted:
                self.refuse(entry, f"{len(entry.columns)} columns instead of {wanted}")
                continue
            if unknown := sorted({*entry.columns} - {*acts.names}):
                self.refuse(entry, f"there is no act “{unknown[0]}”")
            one, other = entry.columns[0], entry.columns[-1]
            if entry.section == "follow-ups":
                acts.follow_ups.append(one)
            elif wanted == 2:
                is_mutual = entry.section == "opposites"
                first = known.setdefault(frozenset(entry.columns) if is_mutual else entry.columns, entry)
                if one == other:
                    self.refuse(
                        entry, f"“{one}” is no opposite of itself" if is_mutual else f"“{one}” is beside itself"
                    )
                elif first is not entry:
                    self.refuse(entry, f"“{one}” and “{other}” stand in line {first.line} already")
                elif is_mutual:
                    acts.opposites.append((one, other))
                else:
                    acts.beside[one] = f"{acts.beside.get(one, '')} {other}".lstrip()
        self._group([entry for entry in entries if entry.section == "follow-ups"])
        return acts

    def read_phrases(self, name: str, acts: Acts) -> list[Phrase]:
        """Return the phrases of headlines; each stands on one line, with all that it says."""
        excluded = {frozenset(pair) for pair in acts.opposites}
        phrases: list[Phrase] = []
        known: dict[str, tuple[Entry, Phrase]] = {}
        for entry in self.read(name, 3, ()):
            phrase = self._read_phrase(entry, acts.names)
            if phrase is None:
                continue
            if before := known.get(phrase.text):
                self.refuse(entry, describe_repetition(phrase, *before))
                continue
            known[phrase.text] = entry, phrase
            if reason := find_contradiction(phrase.kinds, phrase.acts, excluded):
                self.refuse(entry, f"“{phrase.text}” {reason}")
            phrases.append(phrase)
        return phrases

    def _read_phrase(self, entry: Entry, acts: Collection[str]) -> Phrase | None:
        text, kinds, named = entry.columns
        phrase = Phrase(text, {}, tuple(_split(named)), entry)
        for part in _split(kinds):
            kind, _, strength = part.partition(" ")
            if reason := find_kind_fault(kind, strength, phrase.kinds):
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
        if reason := reason or find_wildcard_fault(text, forbidden):
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

    def _group(self, entries: Iterable[Entry]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for entry in self._drop_repeated(entries):
            found.setdefault(entry.section, []).append(entry.columns[0])
        return found


def _split(column: str) -> list[str]:
    return [] if column == "-" else column.split(", ")
