"""The text of a version: the header with what clients read first, and the rules."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sluice import __version__
from sluice.core.compiler.header import format_checksum_line
from sluice.core.compiler.published.definition import ListDefinition
from sluice.core.compiler.published.text_lines import TextLines
from sluice.core.compiler.published.versions import RESOURCE, ListState, VersionStamp, name_patch
from sluice.core.compiler.sources.line_splitting import flatten_to_one_line
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.json_text import encode_utf8
from sluice.core.timestamps import iso

_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A source that was not read from its own address: `substitute` says what was taken, `reason` why."""

    source: str
    substitute: str
    reason: str

    @property
    def line(self) -> str:
        reason = flatten_to_one_line(self.reason)
        return f"! Source: {flatten_to_one_line(remove_secrets(self.source))}: {self.substitute} ({reason})"


def describe_copy(fetched_s: float) -> str:
    """Say which copy was taken: by its time, because an age would change the bytes at every build."""
    return f"last good copy of {iso(fetched_s)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionText:
    """All that the text of a version depends on."""

    definition: ListDefinition
    stamp: VersionStamp
    state: ListState
    notes: Sequence[SourceNote]
    rules: bytes
    rule_count: int
    patch_id: str
    homepage: str

    def write(self) -> bytes:
        """Return the adblock text, which ends with a line feed. The rules are copied once, because they are long."""
        header = self._header()
        checksum = format_checksum_line(header, TextLines(self.rules), [""])
        head = encode_utf8("".join(f"{line}\n" for line in (checksum, *header)))
        length = len(self.rules)
        while self.rules[length - 1 : length] == b"\n":
            length -= 1
        return b"".join((head, memoryview(self.rules)[:length], b"\n" if length else b""))

    @property
    def header_lines(self) -> int:
        """How many of the lines stand above the rules."""
        return 1 + len(self._header())

    def _header(self) -> list[str]:
        """Return the header; everything up to Diff-Expires stands within the first 1,024 characters."""
        configuration = self.definition.configuration
        period = self.definition.cron.shortest_gap_minutes() or _DAY_MINUTES
        patch = f"patches/{self.patch_id}/{name_patch(self.stamp, period)}#{RESOURCE}"
        first = {
            "Title": configuration.name,
            "Homepage": configuration.homepage or self.homepage,
            "Version": str(self.stamp.version),
            "Last modified": _format_date(self.stamp.created_s),
            "Expires": f"{_count_expiry_days(period)} days",
            "Diff-Path": patch,
            "Diff-Expires": f"{period // 60} hours",
        }
        further = {
            "Description": self.definition.text,
            "License": configuration.license,
            "State": self.state,
        }
        return [
            *(_format_field(name, value) for name, value in first.items() if value),
            *(_format_field(name, value) for name, value in further.items() if value),
            *(note.line for note in self.notes),
            f"! Number of entries: {self.rule_count}",
            f"! Compiled by sluice v{__version__}",
            "!",
        ]


def _count_expiry_days(period_minutes: int) -> int:
    """Return after how many days the whole list is fetched anew: twice the period, and at least two, because patches come more often."""
    return max(2, math.ceil(2 * period_minutes / _DAY_MINUTES))


def _format_field(name: str, value: str) -> str:
    return f"! {name}: {flatten_to_one_line(value)}"


def _format_date(at_s: int) -> str:
    """Return a date that every browser parses."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
