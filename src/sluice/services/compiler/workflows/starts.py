"""Starting workflows: by request, with an id of its own, and by the clock, once for each scheduled time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sluice.core.compiler.configuration import Configuration
from sluice.core.ports import Clock
from sluice.services.compiler.health.source import HealthSource
from sluice.services.compiler.ports import Instances
from sluice.services.compiler.workflows.parcels import Parcels

ApiType = Literal["compilation", "batch-compilation", "cache-warming", "health-monitoring"]
# How the ids of requested instances begin.
PREFIXES: Final[Mapping[ApiType, str]] = {
    "compilation": "wf-compile",
    "batch-compilation": "wf-batch",
    "cache-warming": "wf-cache-warm",
    "health-monitoring": "wf-health",
}
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_SUFFIX_CHARS: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """`random_hex` gives 32 hexadecimal digits, others each time."""

    instances: Mapping[ApiType, Instances]
    parcels: Parcels
    clock: Clock
    random_hex: Callable[[], str]

    async def requested(self, kind: ApiType, id_field: str, params: Mapping[str, Any]) -> str:
        """Start an instance and give its id, which the parameters hold too, under the name it has there."""
        now_ms = round(self.clock.now() * 1000)
        workflow_id = f"{PREFIXES[kind]}-{now_ms}-{_suffix(self.random_hex())}"
        await self._create(kind, workflow_id, {id_field: workflow_id, **params, "queuedAt": now_ms})
        return workflow_id

    async def warming(self, scheduled_ms: int, configurations: Sequence[Configuration]) -> str:
        """Start the warming of a scheduled time; again for the same time, nothing happens."""
        workflow_id = f"cache-warm-scheduled-{scheduled_ms}"
        told = [configuration.model_dump(exclude_unset=True) for configuration in configurations]
        await self._create(
            "cache-warming", workflow_id, {"runId": workflow_id, "configurations": told, "scheduled": True}
        )
        return workflow_id

    async def health(self, scheduled_ms: int, sources: Sequence[HealthSource]) -> str:
        """Start the health check of a scheduled time; again for the same time, nothing happens."""
        workflow_id = f"health-check-scheduled-{scheduled_ms}"
        told = [source.model_dump() for source in sources]
        await self._create("health-monitoring", workflow_id, {"runId": workflow_id, "sources": told, "scheduled": True})
        return workflow_id

    async def _create(self, kind: ApiType, workflow_id: str, params: Mapping[str, Any]) -> None:
        packed = await self.parcels.packed(workflow_id, params)
        await self.instances[kind].create(workflow_id, packed)


def _suffix(hexadecimal: str) -> str:
    number = int(hexadecimal, 16)
    digits = []
    for _ in range(_SUFFIX_CHARS):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(digits)
