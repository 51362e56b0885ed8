"""Writes a list in a format, and reports every rule that the format cannot express.

AdBlock rules say more than most formats can: a name alone, a name with all below it, or only those below; exceptions; and
`$important`, which wins over exceptions. The writer keeps to these rules:

- A written list never blocks what the list allows. Where a format has no line for an exception, the block around it is
  narrowed to its name alone, or left out. To block too little is reported; to block too much would break sites.
- Nothing is lost silently: each rule that the format cannot express, or only in part, is in the report with its line and the
  reason. A duplicate, what the list itself opens, and what `$badfilter` cancels are not reported: they block nothing.
- Precedence is resolved here (`resolution`), not by the client: a client knows at most that the longer name wins, so a line
  is written only if that reading gives the list's own verdict. `$badfilter` rules and what they cancel are removed before.
- A format is a row of data (`table`): a line for each width that it knows. No format has code of its own, except for JSON.
- The same line is written once, also if a wider and a narrower block of a name share it; `names_only` formats have one line
  for both. A zone needs some blocks repeated, because there a wildcard does not reach below a name that has a line.
- A list may have millions of rules. So entries are read, decided and written one at a time. Besides the names that were
  written, only exceptions and important blocks are in memory, for they decide on others. Exceptions follow the blocks,
  and the header is made last, as it states how many entries there are. Only a JSON document collects all its names.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, takewhile
from typing import Any, Final

from sluice.core.errors import Invalid
from sluice.core.filters.formats.entries import (
    Entry,
    SkippedLine,
    Width,
    find_cancelled,
    iterate_entries,
    read_decisive_entries,
    to_canonical_text,
)
from sluice.core.filters.formats.pattern_exceptions import PatternExceptions
from sluice.core.filters.formats.resolution import Resolution, iterate_hidden
from sluice.core.filters.formats.table import FORMATS, PASSED_THROUGH, Format
from sluice.core.filters.syntax.lines import CREDITS, is_blank, is_comment

_HEADER_FIELDS: Final = (
    "Title", "Description", "Homepage", "License", "Expires", "Last modified", "Version", "State",
)  # fmt: skip
_NAMES_ONLY: Final = "Each line blocks the name alone, not the names below it."
_WIDTHS: Final = {
    Width.EXACT: "a single name without the names below it",
    Width.TREE: "a name with all names below it",
    Width.BELOW: "the names below a name without that name",
}


@dataclass(frozen=True, slots=True)
class FormatReport:
    """How many entries were written, and every line that was not, with the reason."""

    format: str
    entries: int
    skipped: tuple[SkippedLine, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class WrittenList:
    """The lines in the format, and the report."""

    lines: list[str]
    report: FormatReport


def check_format(name: str) -> None:
    """Raise Invalid, which lists the formats, for an unknown one."""
    if name not in FORMATS:
        raise Invalid(f"Unknown format: {name}. The known ones are {', '.join(FORMATS)}.")


def write_list(lines: list[str], name: str, *, serial: int = 1, max_entries: int | None = None) -> WrittenList:
    """Write the list in the named format; `serial` numbers the versions of a zone."""
    check_format(name)
    if name in PASSED_THROUGH:
        count = sum(1 for line in lines if not is_blank(line) and not is_comment(line))
        return WrittenList(lines, FormatReport(name, count, ()))
    skipped: list[SkippedLine] = []
    writer = FormatWriter(lines, name, serial=serial, max_entries=max_entries, on_skipped=skipped.append)
    body = list(writer.iterate_body())
    report = FormatReport(name, writer.entries, tuple(sorted(skipped, key=lambda line: line.line)))
    return WrittenList([*writer.list_header(), *body, ""], report)


class FormatWriter:
    """Writes a list line by line: the body first, then the header, which says how many entries there are."""

    def __init__(
        self,
        lines: Sequence[str],
        name: str,
        *,
        serial: int = 1,
        max_entries: int | None = None,
        on_skipped: Callable[[SkippedLine], None],
    ) -> None:
        self.entries = 0
        self._lines = lines
        self._name = name
        self._row = FORMATS[name]
        self._serial = serial
        self._max_entries = max_entries or self._row.max_entries
        self._skip = on_skipped
        self._cancelled = find_cancelled(lines)
        self._cancelled_patterns = {text.partition("$")[0] for text in self._cancelled}
        decisive = [entry for entry in read_decisive_entries(lines) if not self._is_cancelled(entry)]
        self._resolution = Resolution(
            decisive,
            PatternExceptions(lines, self._cancelled),
            self._row.exceptions.keys(),
            can_narrow=Width.EXACT in self._row.blocks,
            names_only=self._row.names_only,
        )
        # Where a line is the name alone, one width of it is enough.
        shared: set[str] = set()
        self._written = {width: shared if self._row.names_only else set[str]() for width in Width}
        self._templates = {width: _find_templates(self._row, width) for width in self._row.blocks}

    def iterate_body(self) -> Iterator[str]:
        """Yield each line below the header once."""
        if self._row.is_json:
            yield from _write_json(self._name, self._iterate_blocks(), self._lines)
        elif self._row.names_on_line > 1:
            names = (entry.name for entry in self._iterate_blocks())
            while line := " ".join(islice(names, self._row.names_on_line)):
                yield self._row.blocks[Width.EXACT].format(name=line)
        else:
            for entry in self._iterate_blocks():
                yield from self._write_block(entry)
            if self._row.exceptions:
                yield from dict.fromkeys(self._write_exceptions())

    def list_header(self) -> list[str]:
        """Return the header; the body was written before."""
        return _write_header(self._lines, self._row, self.entries, self._serial)

    def _iterate_blocks(self) -> Iterator[Entry]:
        for outcome in iterate_entries(self._lines):
            if isinstance(outcome, SkippedLine):
                self._skip(outcome)
            elif not outcome.is_exception and not self._is_cancelled(outcome):
                left, reason = self._resolution.resolve(outcome)
                if reason:
                    self._skip_entry(outcome, reason)
                if left and self._admit(left):
                    yield left
        if Width.EXACT in self._row.blocks:
            yield from filter(self._admit, self._resolution.iterate_blocked_exceptions())

    def _is_cancelled(self, entry: Entry) -> bool:
        if not self._cancelled:
            return False
        text = self._lines[entry.line].strip()
        if text.isascii() and text.partition("$")[0] not in self._cancelled_patterns:
            return False
        return to_canonical_text(text) in self._cancelled

    def _admit(self, entry: Entry) -> bool:
        """Return whether the entry is new and fits, and count it as written."""
        written = self._written[entry.width]
        if entry.width not in self._row.blocks:
            self._skip_entry(entry, f"{self._row.syntax} cannot express {_WIDTHS[entry.width]}")
        elif entry.name in written:
            pass
        elif self._max_entries is not None and self.entries >= self._max_entries:
            self._skip_entry(entry, f"the format holds at most {self._max_entries:,} entries")
        else:
            written.add(entry.name)
            self.entries += 1
            return True
        return False

    def _skip_entry(self, entry: Entry, reason: str) -> None:
        self._skip(SkippedLine(entry.line + 1, self._lines[entry.line].strip(), reason))

    def _write_block(self, entry: Entry) -> Iterator[str]:
        """Yield the lines of a block that no wider or narrower block of the same name had."""
        name = self._row.escape(entry.name) if self._row.escape else entry.name
        for template, others in self._templates[entry.width]:
            if not any(entry.name in self._written[width] for width in others):
                yield template.format(name=name)

    def _write_exceptions(self) -> Iterator[str]:
        """Yield the lines of the exceptions that no block has, and those that a zone needs besides."""
        exceptions = self._resolution.list_exceptions()
        for entry in exceptions:
            blocks = {line for width in self._row.blocks for line in self._find_written(entry.name, width)}
            lines = self._row.exceptions[entry.width].format(name=entry.name).split("\n")
            yield from (line for line in lines if line not in blocks)
        if self._row.zone:
            for name, width in iterate_hidden(self._written, {entry.name: entry.width for entry in exceptions}):
                yield self._row.blocks[width].format(name=name)

    def _find_written(self, name: str, width: Width) -> list[str]:
        return self._row.blocks[width].format(name=name).split("\n") if name in self._written[width] else []


def _find_templates(row: Format, width: Width) -> list[tuple[str, list[Width]]]:
    """Return the lines of a block of this width, each with the other widths whose blocks have the same line."""
    others = [] if row.names_only else [other for other in row.blocks if other is not width]
    return [
        (template, [other for other in others if template in row.blocks[other].split("\n")])
        for template in row.blocks[width].split("\n")
    ]


def _write_header(lines: Sequence[str], row: Format, count: int, serial: int) -> list[str]:
    preamble = [line.format(serial=serial) for line in row.preamble]
    if not row.comment:
        return preamble
    texts = [f"{name}: {value}" for name, value in read_header(lines).items()]
    texts += [f"Syntax: {row.syntax}", f"Number of entries: {count}", *([_NAMES_ONLY] if row.names_only else [])]
    texts += [line.lstrip("!# ") for line in _iterate_header(lines) if line.lstrip("!# ").startswith(f"{CREDITS}: ")]
    return [*preamble, *(f"{row.comment} {text}" for text in texts), row.comment]


def read_header(lines: Iterable[str]) -> dict[str, str]:
    """Return the fields in the comments above the first rule, in their usual order."""
    found: dict[str, str] = {}
    for line in _iterate_header(lines):
        name, colon, value = line.lstrip("!# ").partition(": ")
        if colon and name in _HEADER_FIELDS:
            found.setdefault(name, value.strip())
    return {name: found[name] for name in _HEADER_FIELDS if name in found}


def _iterate_header(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines above the first rule."""
    return takewhile(lambda line: is_comment(line) or is_blank(line) or line.startswith("["), lines)


def _write_json(name: str, blocks: Iterable[Entry], lines: Sequence[str]) -> Iterator[str]:
    names: dict[Width, list[str]] = {width: [] for width in Width}
    for entry in blocks:
        template = FORMATS[name].blocks[entry.width]
        names[entry.width].append(entry.name if template == "{name}" else template.format(name=entry.name))
    if name == "sing-box":
        domains = {"domain": names[Width.EXACT], "domain_suffix": names[Width.TREE] + names[Width.BELOW]}
        rules = [{key: values for key, values in domains.items() if values}]
        value: dict[str, Any] = {"version": 1, "rules": rules if rules[0] else []}
    else:
        header = read_header(lines)
        value = {
            "name": header.get("Title", "Blocklist"),
            "description": header.get("Description", ""),
            "denied-remote-domains": names[Width.TREE],
            "denied-remote-hosts": names[Width.EXACT],
        }
    rest = ""
    for text in json.JSONEncoder(ensure_ascii=False, indent=1).iterencode(value):
        *done, rest = f"{rest}{text}".split("\n")
        yield from done
    yield rest
