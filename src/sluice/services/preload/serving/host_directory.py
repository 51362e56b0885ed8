"""Who serves a host: a zone, the API, or nobody. It is looked up in KV, and each isolate remembers it for a while.

Without a configuration that can be read the last good one serves, and without any the request's own address.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from sluice.core.errors import Invalid, NotFound, SluiceError
from sluice.core.ports import Clock, Database, Kv, Log
from sluice.core.preload.zone_config import ZoneConfig, netloc_of, parse_config
from sluice.core.waits import is_waiting
from sluice.services.preload.zone.operator_calls import RegisteredReply

REMEMBERED_S: Final = 30.0
RETRY_S: Final = 5.0  # how soon a lookup that failed is tried again
MAX_HOSTS: Final = 1000

Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Zone:
    zone_id: str
    config: ZoneConfig


@dataclass(slots=True)
class HostCache:
    """The lookups of one isolate: until when each is trusted, and the zone or None; and each host's last good zone."""

    hosts: dict[str, tuple[float, Zone | None]] = field(default_factory=dict)
    last_good: dict[str, Zone] = field(default_factory=dict)

    def clear(self) -> None:
        self.hosts.clear()
        self.last_good.clear()

    def remember(self, host: str, until: float, zone: Zone | None) -> None:
        if len(self.hosts) >= MAX_HOSTS:
            self.clear()
        self.hosts[host] = (until, zone)
        if zone:
            self.last_good[host] = zone


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDirectory:
    read_api_hosts: Callable[[], Sequence[str]]  # a * at the beginning stands for any subdomain
    kv: Kv
    database: Database
    clock: Clock
    log: Log
    cache: HostCache
    # The configuration as the zone's object has it; raises NotFound for a zone that is not registered.
    load_config: Callable[[str], Awaitable[RegisteredReply]]

    async def dispatch(
        self,
        url: str,
        *,
        to_zone: Callable[[Zone], Awaitable[Reply]],
        to_api: Callable[[], Awaitable[Reply]],
        to_nobody: Callable[[], Awaitable[Reply]],
    ) -> Reply:
        """Return who serves a host. A zone's host is always the zone's; of the others, the API answers only on the Worker's own."""
        zone = await self.find_zone(url)
        if zone is not None:
            return await to_zone(zone)
        return await to_api() if await self._is_for_api(url) else await to_nobody()

    async def find_zone_behind(self, url: str, origin_url: str) -> Zone | None:
        """Return the zone whose page a URL is, if its origin is asked for the page on the host of `origin_url`."""
        zone = await self.find_zone(url)
        origin = zone and zone.config.origin_url
        return zone if origin and netloc_of(origin) == netloc_of(origin_url) else None

    async def find_zone(self, url: str) -> Zone | None:
        """Return the zone whose page a URL is."""
        try:
            host = netloc_of(url)
        except Invalid:
            return None
        now = self.clock.now()
        remembered = self.cache.hosts.get(host)
        if remembered and is_waiting(remembered[0], now, REMEMBERED_S):
            return remembered[1]
        try:
            zone, seconds = await self._look_up(host), REMEMBERED_S
        except SluiceError as error:
            # The last good configuration serves for as long as nobody can read a newer one.
            self.log.error("host.lookup_failed", error, host=host)
            zone, seconds = self.cache.last_good.get(host), RETRY_S
        self.cache.remember(host, now + seconds, zone)
        return zone

    async def _look_up(self, host: str) -> Zone | None:
        zone_id = await self._find_zone_id(host)
        if not zone_id:
            return None
        try:
            return Zone(zone_id, parse_config(await self.kv.get_json(f"config:{zone_id}")))
        except SluiceError as error:
            self.log.error("config.unreadable", error, zone=zone_id)
            return await self._ask_object(zone_id, error)

    async def _find_zone_id(self, host: str) -> str | None:
        """Return the zone's id from KV or, while that does not answer, from D1, which has the same hosts."""
        try:
            return await self.kv.get_text(f"host:{host}")
        except SluiceError:
            sql = "SELECT zone_id FROM zone_hosts WHERE host = ? ORDER BY configured_at DESC LIMIT 1"
            if found := await self.database.value(sql, host):
                return str(found)
            raise

    async def _ask_object(self, zone_id: str, error: SluiceError) -> Zone | None:
        """Return the zone as its object has it, because its configuration in KV is missing or broken."""
        try:
            return Zone(zone_id, parse_config((await self.load_config(zone_id))["config"]))
        except NotFound:
            return None
        except SluiceError:
            raise error from None

    async def _is_for_api(self, url: str) -> bool:
        try:
            name = netloc_of(url).partition(":")[0]
        except Invalid:
            return False
        if not any(_fits_host(name, pattern) for pattern in self.read_api_hosts()):
            return False
        try:
            # Not on a zone's host at another port.
            return not await self.database.value("SELECT 1 FROM zone_hosts WHERE name = ? LIMIT 1", name)
        except SluiceError as error:
            self.log.error("host.lookup_failed", error, host=name)
            return True


def _fits_host(name: str, pattern: str) -> bool:
    return name.endswith(pattern[1:]) if pattern.startswith("*.") else name == pattern
