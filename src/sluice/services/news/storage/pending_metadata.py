"""The metadata of the pending list: its version, and what the last run of the updater reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

_MAX_SOURCES: Final = 10  # names in KV metadata of 1,024 bytes


@dataclass(frozen=True, slots=True)
class PendingMetadata:
    """`incomplete` names the sources that stopped before they reached a known article."""

    version: int = 0
    incomplete: tuple[str, ...] = ()
    last_run: Any = None
    added: int = 0

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Reads leniently: anything of another shape counts as missing."""
        if not isinstance(value, Mapping):
            return cls()
        version, incomplete = value.get("version"), value.get("incomplete")
        names = incomplete if isinstance(incomplete, list) else []
        return cls(
            version=version if isinstance(version, int) else 0,
            incomplete=tuple(str(name) for name in names),
            last_run=value.get("lastRun"),
        )

    def as_json(self) -> dict[str, Any]:
        incomplete = list(self.incomplete[:_MAX_SOURCES])
        return {"version": self.version, "incomplete": incomplete, "lastRun": self.last_run, "added": self.added}
