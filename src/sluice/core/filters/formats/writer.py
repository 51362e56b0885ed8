"""Writes a list in a format, and reports every rule that the format cannot express."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any, Final

from sluice.core.errors import Invalid
from sluice.core.filters.formats.entries import Entry, Skipped, Width, read_entries
from sluice.core.filters.formats.resolution import EntrySet, resolve
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
    skipped: tuple[Skipped, ...]

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
    row = FORMATS[name]
    entries, skipped = read_entries(lines)
    resolved = resolve(entries, lines, row.exceptions.keys())
    all_blocks = [*resolved.blocks, *(_find_blocked_exceptions(entries, resolved.blocks) if row.names_only else ())]
    blocks, unwritable = _select_writable(all_blocks, row, lines, max_entries or row.max_entries)
    report = FormatReport(
        name, len(blocks), tuple(sorted([*skipped, *resolved.skipped, *unwritable], key=lambda line: line.line))
    )
    if row.json_key:
        return WrittenList(_write_json(name, blocks, lines), report)
    body = dict.fromkeys(_write_entries(blocks, resolved.exceptions, row))  # each line once
    header = _write_header(lines, row, report.entries, serial)
    return WrittenList([*header, *body, ""], report)


def _find_blocked_exceptions(entries: list[Entry], blocks: list[Entry]) -> Iterator[Entry]:
    """Yield the names that an exception does not open, because of `$important`: a name above them does not block them."""
    covering = EntrySet(blocks)
    for entry in entries:
        name = Entry(entry.line, entry.name, Width.EXACT)
        if entry.is_exception and covering.covers(name):
            yield name


def _select_writable(
    blocks: list[Entry], row: Format, texts: list[str], max_entries: int | None
) -> tuple[list[Entry], list[Skipped]]:
    written: dict[tuple[str, ...], Entry] = {}
    skipped: list[Skipped] = []
    for entry in blocks:
        key = (entry.name,) if row.names_only else (entry.name, entry.width)
        if entry.width not in row.blocks:
            reason = f"{row.syntax} cannot express {_WIDTHS[entry.width]}"
        elif key in written:
            continue
        elif max_entries is not None and len(written) >= max_entries:
            reason = f"the format holds at most {max_entries:,} entries"
        else:
            written[key] = entry
            continue
        skipped.append(Skipped(entry.line + 1, texts[entry.line].strip(), reason))
    return list(written.values()), skipped


def _write_entries(blocks: Iterable[Entry], exceptions: Iterable[Entry], row: Format) -> Iterator[str]:
    if row.names_on_line > 1:
        names = [entry.name for entry in blocks]
        for start in range(0, len(names), row.names_on_line):
            yield row.blocks[Width.EXACT].format(name=" ".join(names[start : start + row.names_on_line]))
        return
    escape = row.escape or str
    for entry in blocks:
        yield from row.blocks[entry.width].format(name=escape(entry.name)).split("\n")
    for entry in exceptions:
        yield from row.exceptions[entry.width].format(name=escape(entry.name)).split("\n")


def _write_header(lines: list[str], row: Format, count: int, serial: int) -> list[str]:
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


def _write_json(name: str, blocks: list[Entry], lines: list[str]) -> list[str]:
    names: dict[Width, list[str]] = {width: [] for width in Width}
    for entry in blocks:
        names[entry.width].append(FORMATS[name].blocks[entry.width].format(name=entry.name))
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
    return [*json.dumps(value, ensure_ascii=False, indent=1).split("\n"), ""]
