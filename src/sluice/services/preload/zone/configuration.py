"""The copies that others read: the configuration in KV and D1, the queue and the dead letters mirrored in KV."""

import json
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Invalid, SluiceError
from sluice.core.json_text import encode_json
from sluice.core.preload.zone_config import ZoneConfig, parse_config, config_as_json
from sluice.services.preload.queue.dead_letters import DeadLetters
from sluice.services.preload.queue.queue import Queue, mirrored
from sluice.services.preload.zone.services import Parts

MAX_MIRRORED: Final = 1000
# A read of KV may be this old, so only after that long does a difference mean that somebody edited it by hand.
KV_LAG_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Publishing:
    parts: Parts

    async def configure(self, zone: ZoneConfig) -> int:
        """Take a configuration; returns its version. A host named by two zones is served by the one that did so last."""
        state = self.parts.state
        before, version = state.zone, int(state.get("version", default=0))
        if before != zone:
            version += 1
            state.configure(zone)
            state.put("version", version)
            state.put("unlinked", sorted(before.own_hosts - zone.own_hosts) if before else [])
        state.put("published", 0)
        await self.publish()
        return version

    async def publish(self) -> None:
        """Bring D1 and KV up to the current version; done again by the next minute's cron if it fails here."""
        state, kv, zone_id = self.parts.state, self.parts.outside.kv, self.parts.zone_id
        zone, version = state.zone, int(state.get("version", default=0))
        if zone is None or state.get("published", default=0) == version:
            return
        text = encode_json(config_as_json(zone))
        await self.parts.outside.database.run(
            "INSERT OR REPLACE INTO config_snapshots VALUES (?, ?, ?, ?)", zone_id, version, text, self.parts.now()
        )
        await self._unlink(state.get("unlinked", default=[]))
        for host in sorted(zone.own_hosts):
            await kv.put_text(f"host:{host}", zone_id)
        await kv.put_text(f"config:{zone_id}", text)
        state.put("published", version)
        state.put("published_at", self.parts.now())

    async def withdraw(self) -> None:
        """Forget the zone's hosts, queue and configuration; its stored pages stay until they are purged or too old."""
        state, kv, zone_id = self.parts.state, self.parts.outside.kv, self.parts.zone_id
        zone = state.zone
        await kv.delete(f"config:{zone_id}")
        await self._unlink(sorted(zone.own_hosts) if zone else [])
        for key in ("preload-queue", "preload-dlq"):
            await kv.delete(f"{key}:{zone_id}")
        for table in ("entry", "membership", "crawl", "dead", "purge", "incident", "page"):
            self.parts.sql.execute(f"DELETE FROM {table}")  # noqa: S608
        for name in ("config", "signing_keys", "mirrored", "mirrored_dead", "breaker", "hold_until", "paused"):
            self.parts.sql.execute("DELETE FROM state WHERE name = ?", name)

    async def _unlink(self, hosts: list[str]) -> None:
        """Let go of hosts, unless another zone has taken them over."""
        kv = self.parts.outside.kv
        for host in hosts:
            if await kv.get_text(f"host:{host}") == self.parts.zone_id:
                await kv.delete(f"host:{host}")

    async def adopt(self) -> None:
        """Take over what somebody wrote into KV by hand."""
        state = self.parts.state
        if self.parts.now() - state.get("published_at", default=0) < KV_LAG_S:
            return
        text = await self.parts.outside.kv.get_text(f"config:{self.parts.zone_id}")
        try:
            edited = None if text is None else parse_config(json.loads(text))
            if edited is not None and edited != state.zone:
                await self.configure(edited)
        except (ValueError, Invalid) as error:
            self.parts.outside.tell("config.refused", zone=self.parts.zone_id, reason=str(error))

    async def mirror(self) -> bool:
        """Write the queue and the dead letters to KV, where they are few enough; False when nothing had changed."""
        state, zone = self.parts.state, self.parts.state.zone
        if zone is None:
            return False
        queue, dead = Queue(self.parts.sql), DeadLetters(self.parts.sql)
        wanted = zone.preload_queue_backend == "kv"
        changes = [state.tally("changes"), wanted]
        before = state.get("mirrored"), state.get("mirrored_dead")
        if changes != before[0]:
            fits = wanted and queue.depth <= MAX_MIRRORED
            entries = mirrored(queue.in_order(MAX_MIRRORED)) if fits else None
            await self._write(f"preload-queue:{self.parts.zone_id}", entries, empty=queue.depth == 0)
            state.put("mirrored", changes)
        changes_of_dead = [state.tally("dead_changes"), wanted]
        if changes_of_dead != before[1]:
            fits = wanted and dead.count <= MAX_MIRRORED
            letters = dead.listed(MAX_MIRRORED) if fits else None
            await self._write(f"preload-dlq:{self.parts.zone_id}", letters, empty=dead.count == 0)
            state.put("mirrored_dead", changes_of_dead)
        return before != (changes, changes_of_dead)

    async def _write(self, key: str, entries: list[dict[str, object]] | None, *, empty: bool) -> None:
        """A mirror that would not show everything is taken down rather than left to mislead."""
        self.parts.state.put("mirrored_at", self.parts.now())
        try:
            if entries is None and not empty:
                await self.parts.outside.kv.delete(key)
            else:
                await self.parts.outside.kv.put_text(key, encode_json(entries or []))
        except SluiceError as error:
            self.parts.outside.tell("mirror.failed", key_name=key, reason=str(error))

    async def versions(self) -> list[dict[str, object]]:
        rows = await self.parts.outside.database.all(
            "SELECT version, created_at, config_json FROM config_snapshots WHERE zone_id = ? ORDER BY version DESC LIMIT 100",
            self.parts.zone_id,
        )
        return [
            {"version": row["version"], "created_at": row["created_at"], "config": json.loads(str(row["config_json"]))}
            for row in rows
        ]
