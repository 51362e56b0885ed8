"""The zones as callers reach them, each behind its object; `ZoneCalls` declares what they can be asked for."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from sluice.core.ports import Database, Kv
from sluice.core.remote import Message, connect, has_failed
from sluice.services.preload.zone.zone_object import ZoneCalls

# Takes a call and its message to the object of the zone with this id.
SendToZone = Callable[[str, str, Message], Awaitable[Message]]
# After one of these, what an isolate remembers of hosts and zones is out of date.
CONFIG_CHANGES: Final = frozenset({"configure", "unregister", "restore_version", "set_agent"})


class Zones(Protocol):
    """All zones, as the API and the cron reach them."""

    def get(self, zone_id: str) -> ZoneCalls: ...
    async def list_ids(self) -> list[str]: ...
    async def is_registered(self, zone_id: str) -> bool: ...
    async def forget(self, zone_id: str) -> None: ...


@dataclass(slots=True)
class ZoneList:
    """The ids of all zones as one isolate remembers them, until that time."""

    ids: list[str] = field(default_factory=list)
    until: float = 0.0

    def clear(self) -> None:
        self.until = 0.0


@dataclass(frozen=True, slots=True)
class RemoteZones:
    """The zones, each behind its object. Its configuration is in KV, the list of all in D1."""

    kv: Kv
    database: Database
    send: SendToZone
    on_config_change: Callable[[], None]

    def get(self, zone_id: str) -> ZoneCalls:
        async def send(name: str, message: Message) -> Message:
            answer = await self.send(zone_id, name, message)
            if name in CONFIG_CHANGES and not has_failed(answer):
                self.on_config_change()
            return answer

        return connect(ZoneCalls, send)

    async def list_ids(self) -> list[str]:
        return [str(row["zone_id"]) for row in await self.database.all("SELECT zone_id FROM zones ORDER BY zone_id")]

    async def is_registered(self, zone_id: str) -> bool:
        return await self.kv.get_text(f"config:{zone_id}") is not None

    async def forget(self, zone_id: str) -> None:
        """Take a zone off the list, because its object has no configuration."""
        await self.database.run("DELETE FROM zones WHERE zone_id = ?", zone_id)
