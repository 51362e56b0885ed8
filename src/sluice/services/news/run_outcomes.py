"""How a run ends when it does no work, and why."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Busy:
    """Another run holds the lease."""

    def as_json(self) -> dict[str, Any]:
        return {"outcome": "busy", "reason": "another run is under way"}


@dataclass(frozen=True, slots=True)
class Idle:
    """There was nothing to do."""

    reason: str

    def as_json(self) -> dict[str, Any]:
        return {"outcome": "idle", "reason": self.reason, "steps": []}


@dataclass(frozen=True, slots=True)
class Waiting:
    """KV does not show yet what the last run wrote, and the value is too large to be kept elsewhere."""

    stale: str

    def as_json(self) -> dict[str, Any]:
        return {"outcome": "waiting", "reason": self.reason}

    @property
    def reason(self) -> str:
        return f"the {self.stale} read is older than the last one written"
