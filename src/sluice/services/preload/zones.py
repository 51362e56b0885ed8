"""All zones, as the API and the cron reach them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sluice.core.ports import Kv
from sluice.services.preload.zone.calls import RemoteZone, Send, ZoneCalls


class Zones(Protocol):
    def get(self, zone_id: str) -> ZoneCalls: ...
    async def list_ids(self) -> list[str]: ...
    async def is_registered(self, zone_id: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class RemoteZones:
    """The zones whose configuration is in KV, each behind its object."""

    kv: Kv
    send: Send
    on_config_change: Callable[[], None]

    def get(self, zone_id: str) -> ZoneCalls:
        return RemoteZone(zone_id, self.send, self.on_config_change)

    async def list_ids(self) -> list[str]:
        return [key.name.removeprefix("config:") async for key in self.kv.keys("config:")]

    async def is_registered(self, zone_id: str) -> bool:
        return await self.kv.get_text(f"config:{zone_id}") is not None
