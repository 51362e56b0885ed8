"""How a run ends when it does no work, and why."""

from dataclasses import dataclass
from typing import Literal, TypedDict


class NoRun(TypedDict):
    outcome: Literal["busy", "waiting"]
    reason: str


@dataclass(frozen=True, slots=True)
class Busy:
    """The outcome of a run that did not begin, because another run holds the lease."""

    def as_json(self) -> NoRun:
        return {"outcome": "busy", "reason": "another run is under way"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """The outcome of a run that has to wait until KV shows what the last run wrote, which is too large to be kept elsewhere."""

    stale: str

    def as_json(self) -> NoRun:
        return {"outcome": "waiting", "reason": self.reason}

    @property
    def reason(self) -> str:
        return f"the {self.stale} read is older than the last one written"
