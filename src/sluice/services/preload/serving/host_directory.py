"""Which zone a host belongs to: looked up in KV, and remembered by each isolate for a while."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from sluice.core.errors import Invalid
from sluice.core.ports import Clock, Kv
from sluice.core.preload.zone_config import ZoneConfig, netloc_of, parse_config

REMEMBERED_S: Final = 30.0
MAX_HOSTS: Final = 1000

Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Zone:
    zone_id: str
    config: ZoneConfig


@dataclass(slots=True)
class HostCache:
    """The lookups of one isolate: host, time until which the lookup is trusted, and the zone or None."""

    hosts: dict[str, tuple[float, Zone | None]] = field(default_factory=dict)

    def clear(self) -> None:
        self.hosts.clear()


@dataclass(frozen=True, slots=True)
class HostDirectory:
    own_name: str  # of the Worker: a host that starts with it is the API's
    kv: Kv
    clock: Clock
    cache: HostCache

    async def dispatch(
        self,
        url: str,
        *,
        to_zone: Callable[[Zone], Awaitable[Reply]],
        to_api: Callable[[], Awaitable[Reply]],
    ) -> Reply:
        """Calls `to_zone` for a URL on a zone's host, and `to_api` for any other."""
        zone = await self.find_zone(url)
        return await to_api() if zone is None else await to_zone(zone)

    async def find_zone(self, url: str) -> Zone | None:
        """The zone whose page a URL is; None for the Worker's own URLs."""
        try:
            host = netloc_of(url)
        except Invalid:
            return None
        if host.startswith(f"{self.own_name}."):
            return None
        hosts, now = self.cache.hosts, self.clock.now()
        if host not in hosts or hosts[host][0] <= now:
            zone = await self._look_up(host)
            if len(hosts) >= MAX_HOSTS:
                hosts.clear()
            hosts[host] = (now + REMEMBERED_S, zone)
        return hosts[host][1]

    async def _look_up(self, host: str) -> Zone | None:
        zone_id = await self.kv.get_text(f"host:{host}")
        config = await self.kv.get_json(f"config:{zone_id}") if zone_id else None
        return Zone(zone_id, parse_config(config)) if zone_id and config else None
