"""How a run ends when it does no work: another run holds the lease, or KV is stale."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Busy:
    """Another run holds the lease."""

    def as_json(self) -> dict[str, Any]:
        return {"outcome": "busy", "reason": "another run is under way"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """KV does not show yet what the last run wrote; the next run will see it."""

    stale: str

    def as_json(self) -> dict[str, Any]:
        return {"outcome": "waiting", "reason": self.reason}

    @property
    def reason(self) -> str:
        return f"the {self.stale} read is older than the last one written"
