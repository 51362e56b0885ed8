"""The zone's configuration: accepted here, published to KV and D1, where others read it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import Invalid
from sluice.core.json_text import encode_json
from sluice.core.ports import Clock, Database, Kv, Log, Sql, Statement
from sluice.core.preload.members import EpochS
from sluice.core.preload.zone_config import ConfigJson, ZoneConfig, config_as_json, parse_config
from sluice.services.preload.zone.state import ZoneState

# A read of KV may be this old. Only after that time does a difference mean that somebody edited the value by hand.
KV_LAG_S: Final = 120.0
MAX_VERSIONS: Final = 100  # that are kept, for restoring one

# What a site may set by itself, with its signature.
AGENT_FIELDS: Final = ("origin_cron_path", "preload_sitemap_url")


class Version(TypedDict):
    version: int
    created_at: EpochS
    config: ConfigJson


class Versions(TypedDict):
    versions: Annotated[list[Version], Doc("The last 100, the latest first.")]


def change_agent(config: ZoneConfig, changes: Mapping[str, str | None]) -> ZoneConfig:
    """Return the configuration with some of the site's own fields; None stands for the default."""
    values = {**config_as_json(config), **changes}
    return parse_config({name: value for name, value in values.items() if name not in changes or value is not None})


# What the object knows of a zone; the numbers of purges stay, so that a zone of the same name never serves an old copy.
OWN_TABLES: Final = (
    *(
        "entry",
        "late",
        "membership",
        "batch",
        "crawl",
        "crawl_progress",
        "dead",
        "purge",
        "purge_url",
        "purge_progress",
    ),
    *("incident", "page", "observed", "visit", "page_visit", "result"),
)


# The values of the zone's state that go with it.
OWN_VALUES: Final = (
    *("config", "signing_keys", "mirrored", "mirrored_dead", "breaker", "hold_until", "paused"),
    *("looping_hosts", "origin_check", "agent", "circle"),
)


@dataclass(frozen=True, slots=True)
class ConfigPublisher:
    zone_id: str
    sql: Sql
    state: ZoneState
    kv: Kv
    database: Database
    clock: Clock
    log: Log

    async def configure(self, config: ZoneConfig) -> int:
        """Store and publish a configuration; return its version. A host of two zones belongs to the later one."""
        version = self.accept(config)
        await self.publish()
        return version

    def accept(self, config: ZoneConfig) -> int:
        """Store a configuration, to be published; return its version."""
        before, version = self.state.config, self.state.version
        if before != config:
            version += 1
            unlinked = sorted(before.own_hosts - config.own_hosts) if before else []
            stale: dict[str, Any] = {"looping_hosts": [], "origin_check": None}
            self.state.put_config(config, version=version, unlinked=unlinked, published=0, **stale)
        else:
            self.state.put(published=0)
        return version

    async def publish(self) -> None:
        """Bring D1 and KV up to the current version; the next cron run repeats it if it fails."""
        config, version = self.state.config, self.state.version
        if config is None or self.state.is_published:
            return
        text = encode_json(config_as_json(config))
        snapshot = [self.zone_id, version, text, self.clock.now()]
        await self.database.batch(
            [
                ("INSERT OR REPLACE INTO config_snapshots VALUES (?, ?, ?, ?)", snapshot),
                ("INSERT OR IGNORE INTO zones VALUES (?)", [self.zone_id]),
                *self._list_hosts(config),
                (
                    "DELETE FROM config_snapshots WHERE zone_id = ? AND version <= ?",
                    [self.zone_id, version - MAX_VERSIONS],
                ),
            ]
        )
        await self._unlink(self.state.get("unlinked", default=[]))
        for host in sorted(config.own_hosts):
            await self.kv.put_text(f"host:{host}", self.zone_id)
        await self.kv.put_text(f"config:{self.zone_id}", text)
        if self.state.config is None:
            # The zone was deleted meanwhile: what was just written must not stay.
            await self.erase(config)
            return
        self.state.put(published=version, published_at=self.clock.now())

    async def withdraw(self, config: ZoneConfig) -> None:
        """Delete what others know of the zone: its hosts, its queue and its configuration."""
        await self.erase(config)
        for key in ("preload-queue", "preload-dlq"):
            await self.kv.delete(f"{key}:{self.zone_id}")
        for table in ("zones", "config_snapshots", "preload_alerts"):
            await self.database.run(f"DELETE FROM {table} WHERE zone_id = ?", self.zone_id)  # noqa: S608

    def forget(self) -> None:
        """Delete what the object knows of the zone."""
        for table in OWN_TABLES:
            self.sql.run(f"DELETE FROM {table}")  # noqa: S608
        self.state.delete(*OWN_VALUES)

    async def erase(self, config: ZoneConfig) -> None:
        """Delete the configuration and its hosts from KV and D1."""
        await self.kv.delete(f"config:{self.zone_id}")
        await self.database.run("DELETE FROM zone_hosts WHERE zone_id = ?", self.zone_id)
        await self._unlink(sorted(config.own_hosts))

    async def _unlink(self, hosts: list[str]) -> None:
        """Release hosts to the zone that was configured for them last, or to nobody."""
        for host in hosts:
            if await self.kv.get_text(f"host:{host}") != self.zone_id:
                continue
            next_zone_id = await self.database.value(
                "SELECT zone_id FROM zone_hosts WHERE host = ? ORDER BY configured_at DESC LIMIT 1", host
            )
            if next_zone_id:
                await self.kv.put_text(f"host:{host}", str(next_zone_id))
            else:
                await self.kv.delete(f"host:{host}")

    def _list_hosts(self, config: ZoneConfig) -> list[Statement]:
        """Return the statements that note the zone's hosts, and only these."""
        rows = encode_json([[host, host.partition(":")[0]] for host in sorted(config.own_hosts)])
        return [
            ("DELETE FROM zone_hosts WHERE zone_id = ?", [self.zone_id]),
            (
                "INSERT INTO zone_hosts SELECT value ->> 0, ?, value ->> 1, ? FROM json_each(?)",
                [self.zone_id, self.clock.now(), rows],
            ),
        ]

    async def adopt_edits(self) -> None:
        """Take over a configuration that somebody wrote into KV by hand."""
        if self.clock.now() - self.state.get("published_at", default=0) < KV_LAG_S:
            return
        config, text = self.state.config, await self.kv.get_text(f"config:{self.zone_id}")
        if config is None or text is None or text == encode_json(config_as_json(config)):
            return
        try:
            edited = parse_config(json.loads(text))
            if edited != config:
                await self.configure(edited)
        except (ValueError, Invalid) as error:
            self.log.event("config.refused", zone=self.zone_id, reason=str(error))

    async def list_versions(self) -> list[Version]:
        """Return the last 100 versions, the latest first."""
        rows = await self.database.all(
            "SELECT version, created_at, config_json FROM config_snapshots WHERE zone_id = ? ORDER BY version DESC LIMIT ?",
            *(self.zone_id, MAX_VERSIONS),
        )
        return [
            {"version": row["version"], "created_at": row["created_at"], "config": json.loads(str(row["config_json"]))}
            for row in rows
        ]
