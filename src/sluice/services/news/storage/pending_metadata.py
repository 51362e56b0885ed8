"""The metadata of the pending list: its version, and what the last run of the updater reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NotRequired, Self, TypedDict

_MAX_SOURCES: Final = 10  # names in KV metadata of 1,024 bytes


class StoredMetadata(TypedDict):
    version: int
    incomplete: list[str]
    lastRun: int | None
    added: int
    legacy: NotRequired[str]


@dataclass(frozen=True, slots=True)
class PendingMetadata:
    """The metadata of the pending list. `incomplete` names the sources that stopped before they reached a known article.

    `legacy` names the list of the architecture before checkpoints, if there is one.
    """

    version: int = 0
    incomplete: tuple[str, ...] = ()
    last_run: Any = None
    added: int = 0
    legacy: str = ""

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Read leniently: anything of another shape counts as missing."""
        if not isinstance(value, Mapping):
            return cls()
        version, incomplete, legacy = value.get("version"), value.get("incomplete"), value.get("legacy")
        names = incomplete if isinstance(incomplete, list) else []
        return cls(
            version=version if isinstance(version, int) else 0,
            incomplete=tuple(str(name) for name in names),
            last_run=value.get("lastRun"),
            legacy=legacy if isinstance(legacy, str) else "",
        )

    def as_json(self) -> StoredMetadata:
        stored: StoredMetadata = {
            "version": self.version,
            "incomplete": list(self.incomplete[:_MAX_SOURCES]),
            "lastRun": self.last_run,
            "added": self.added,
        }
        if self.legacy:
            stored["legacy"] = self.legacy
        return stored
