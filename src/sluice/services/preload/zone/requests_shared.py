"""What both kinds of requests to a zone's object share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sluice.core.errors import Conflict, SluiceError
from sluice.core.identifiers import format_uuid4
from sluice.core.ports import Sql
from sluice.core.preload.priority import Facts
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.zone.services import Parts

Json = dict[str, Any]
Call = Callable[[ZoneConfig, Json], Awaitable[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the operator sets for all zones."""

    signing_keys: tuple[str, ...]
    subrequests: int
    post_webhook: Callable[[Json], Awaitable[None]] | None
    deployment: str


@dataclass(frozen=True, slots=True)
class Desk:
    parts: Parts
    settings: Settings
    # Has the queue drained soon.
    wake: Callable[[], Awaitable[None]]

    @property
    def sql(self) -> Sql:
        return self.parts.sql

    def enabled(self, zone: ZoneConfig) -> ZoneConfig:
        if not zone.preload_enabled:
            raise Conflict("preload_enabled is false for this zone")
        return zone

    async def facts(self, urls: list[str]) -> dict[str, Facts]:
        """Without D1 every page counts the same, which is better than to warm none."""
        try:
            return await self.parts.pages.facts(urls)
        except SluiceError as error:
            self.parts.outside.tell("facts.unavailable", error)
            return {}

    def new_id(self, prefix: str) -> str:
        return f"{prefix}-{format_uuid4(self.parts.outside.new_id())}"
