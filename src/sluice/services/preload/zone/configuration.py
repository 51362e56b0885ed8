"""The zone's configuration: accepted here, published to KV and D1, where others read it."""

import json
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import Invalid
from sluice.core.json_text import encode_json
from sluice.core.ports import Clock, Database, Kv, Log, Sql
from sluice.core.preload.zone_config import ZoneConfig, config_as_json, parse_config
from sluice.services.preload.zone.state import ZoneState

# A read of KV may be this old. Only after that time does a difference mean that somebody edited the value by hand.
KV_LAG_S: Final = 120.0


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
        """Stores and publishes a configuration; returns its version. A host of two zones belongs to the later one."""
        before, version = self.state.config, self.state.version
        if before != config:
            version += 1
            unlinked = sorted(before.own_hosts - config.own_hosts) if before else []
            self.state.put_config(config, version=version, unlinked=unlinked, published=0)
        else:
            self.state.put(published=0)
        await self.publish()
        return version

    async def publish(self) -> None:
        """Brings D1 and KV up to the current version; the next cron run repeats it if it fails."""
        config, version = self.state.config, self.state.version
        if config is None or self.state.is_published:
            return
        text = encode_json(config_as_json(config))
        await self.database.run(
            "INSERT OR REPLACE INTO config_snapshots VALUES (?, ?, ?, ?)",
            *(self.zone_id, version, text, self.clock.now()),
        )
        await self._unlink(self.state.get("unlinked", default=[]))
        for host in sorted(config.own_hosts):
            await self.kv.put_text(f"host:{host}", self.zone_id)
        await self.kv.put_text(f"config:{self.zone_id}", text)
        self.state.put(published=version, published_at=self.clock.now())

    async def withdraw(self) -> None:
        """Deletes the zone's hosts, queue and configuration; its stored pages stay until they are purged or too old."""
        config = self.state.config
        await self.kv.delete(f"config:{self.zone_id}")
        await self._unlink(sorted(config.own_hosts) if config else [])
        for key in ("preload-queue", "preload-dlq"):
            await self.kv.delete(f"{key}:{self.zone_id}")
        for table in ("entry", "membership", "crawl", "dead", "purge", "incident", "page"):
            self.sql.run(f"DELETE FROM {table}")  # noqa: S608
        self.state.delete("config", "signing_keys", "mirrored", "mirrored_dead", "breaker", "hold_until", "paused")

    async def _unlink(self, hosts: list[str]) -> None:
        """Deletes the links of hosts, unless another zone has taken them over."""
        for host in hosts:
            if await self.kv.get_text(f"host:{host}") == self.zone_id:
                await self.kv.delete(f"host:{host}")

    async def adopt_edits(self) -> None:
        """Takes over a configuration that somebody wrote into KV by hand."""
        if self.clock.now() - self.state.get("published_at", default=0) < KV_LAG_S:
            return
        text = await self.kv.get_text(f"config:{self.zone_id}")
        try:
            edited = None if text is None else parse_config(json.loads(text))
            if edited is not None and edited != self.state.config:
                await self.configure(edited)
        except (ValueError, Invalid) as error:
            self.log.event("config.refused", zone=self.zone_id, reason=str(error))

    async def list_versions(self) -> list[dict[str, Any]]:
        """The last 100 versions, the latest first."""
        rows = await self.database.all(
            "SELECT version, created_at, config_json FROM config_snapshots WHERE zone_id = ? ORDER BY version DESC LIMIT 100",
            self.zone_id,
        )
        return [
            {"version": row["version"], "created_at": row["created_at"], "config": json.loads(str(row["config_json"]))}
            for row in rows
        ]
