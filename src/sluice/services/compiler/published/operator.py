"""What the operator and the cron do with lists: put, delete, rebuild, roll back, and start what is due."""

import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from sluice.core.compiler.published.definition import ListDefinition, parse_definition
from sluice.core.compiler.published.schedule import own_minute
from sluice.core.errors import Conflict, NotAccepted, NotFound, SluiceError
from sluice.core.json_text import JsonObject
from sluice.core.ports import Bucket, Clock, Log, NewId
from sluice.core.waits import clamp_wait, is_waiting
from sluice.services.compiler.guard.idempotency import OPERATOR, Ticket
from sluice.services.compiler.limits.turns import CompilationTurns
from sluice.services.compiler.ports import Instances
from sluice.services.compiler.published.builds.build_queue import BuildQueue
from sluice.services.compiler.published.builds.build_steps import list_formats
from sluice.services.compiler.published.builds.publisher import VersionPublisher
from sluice.services.compiler.published.keys import BUILDS_PREFIX
from sluice.services.compiler.published.list_store import ListStore
from sluice.services.compiler.workflows.starter import create_patiently

# A build whose instance was never created, because the Worker stopped in between, is started again after this.
_LOST_MS: Final = 10 * 60 * 1000
_STAGED_S: Final = 24 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOperator:
    """Changes and rebuilds lists. `load_declared` returns the definitions of the repository by name."""

    lists: ListStore
    builds: BuildQueue
    publisher: VersionPublisher
    bucket: Bucket
    instances: Instances
    load_declared: Callable[[], Mapping[str, JsonObject]]
    clock: Clock
    new_id: NewId
    log: Log

    async def put(self, name: str, definition: JsonObject, origin: str, ticket: Ticket) -> tuple[bool, str]:
        """Store a definition, and start a build; return whether the list is new, and the id of the build.

        A ticket starts one build, however often it is used.
        """
        self.check_not_declared(name)
        return await self._put(name, definition, origin, ticket)

    async def delete(self, name: str) -> None:
        """Remove a list and everything that is stored of it; raise NotFound without it."""
        self.check_not_declared(name)
        try:
            await self.lists.load(name)
        finally:
            # Also without a row: a removal that was cut off has left objects, which readers still get.
            await self.lists.delete(name)
            await self.publisher.remove_all(name)

    async def rebuild(self, name: str, ticket: Ticket) -> str:
        """Start a build behind those that wait, and return its id."""
        if build_id := await self._store_declared(name, ticket):
            return build_id
        await self.lists.load(name)
        return await self._start(name, ticket)

    async def roll_back(self, name: str, version: int, ticket: Ticket) -> str:
        """Start a build that publishes the rules of an older version; return its id."""
        await self.lists.load(name)
        if all(known.version != version for known in await self.lists.load_versions(name)):
            raise NotFound(f"list {name} has no version {version} any more")
        return await self._start(name, ticket, rollback_to=version)

    async def run_due(self, scheduled_ms: int) -> None:
        """Start a build of each list that is due in this hour, and what was lost; called once an hour."""
        await self._attempt(self._store_all_declared())
        hour = datetime.fromtimestamp(scheduled_ms // 1000, UTC)
        for known in await self.lists.load_all():
            if known.definition.cron.is_due(hour):
                await self._attempt(self._start_scheduled(known.name, scheduled_ms))
        await self._attempt(self._resume_lost())
        await self._attempt(self._remove_staged())

    async def _store_all_declared(self) -> None:
        for name in self.load_declared():
            await self._attempt(
                self._store_declared(name, Ticket(f"{self._now_ms()}-{self.new_id()}", is_repeatable=False))
            )

    async def _resume_lost(self) -> None:
        now_ms = self._now_ms()
        for row in await self.builds.load_waiting():
            if not is_waiting(row["requested_ms"] + _LOST_MS, now_ms, _LOST_MS):
                await self._attempt(self._create(row["id"], row["list"], row["rollback_to"]))

    async def _remove_staged(self) -> None:
        before_s = self.clock.now() - _STAGED_S
        old = [one.key async for one in self.bucket.objects(BUILDS_PREFIX) if one.uploaded_at < before_s]
        if old:
            await self.bucket.delete(old)

    async def _put(self, name: str, definition: JsonObject, origin: str, ticket: Ticket) -> tuple[bool, str]:
        parsed: ListDefinition = parse_definition(definition)
        is_new = await self.lists.put(name, definition, origin)
        await self.publisher.reserve_addresses(name, list_formats(parsed))
        return is_new, await self._start(name, ticket)

    async def _store_declared(self, name: str, ticket: Ticket) -> str | None:
        """Store a declared list if it is new or changed; return the id of the build that this starts, if any."""
        definition = self.load_declared().get(name)
        if definition is None:
            return None
        known = await self.lists.find(name)
        if known is not None and known.definition == parse_definition(definition):
            return None
        _, build_id = await self._put(name, definition, known.origin if known else "", ticket)
        return build_id

    def check_not_declared(self, name: str) -> None:
        """Raise Conflict for a list that cannot be changed by a request."""
        if name in self.load_declared():
            raise Conflict(f"list {name} is declared in lists.json or PUBLISHED_LISTS: change it there")

    async def _start_scheduled(self, name: str, scheduled_ms: int) -> None:
        """Start a build that begins in the list's own minute; a second start for the same hour does nothing."""
        now, after_s = self.clock.now(), own_minute(name) * 60
        start_s = clamp_wait(scheduled_ms / 1000 + after_s, now, after_s)
        params = {"list": name, "waitS": max(0, round(start_s - now))}
        await create_patiently(partial(self.instances.create, f"build-{scheduled_ms}-{name}", params), self.clock)

    async def _start(self, name: str, ticket: Ticket, *, rollback_to: int | None = None) -> str:
        """Start a build, which exists once this returns; after a crash in between, the cron starts what has its row."""
        build_id = f"build-{ticket.unique}"
        await self.builds.add(name, build_id, rollback_to=rollback_to)
        try:
            await self._create(build_id, name, rollback_to)
        except SluiceError as error:
            if not ticket.is_repeatable:  # else another request may have started it, and if not, the cron does
                with suppress(SluiceError):
                    await self.builds.withdraw(build_id)
            if error.retryable:
                raise NotAccepted(
                    f"the build of {name} could not be stored, so it was not started: try again later"
                ) from error
            raise
        return build_id

    async def _create(self, build_id: str, name: str, rollback_to: int | None) -> None:
        await self.instances.create(build_id, {"list": name, "rollbackTo": rollback_to})

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)

    async def _attempt(self, work: Awaitable[object]) -> None:
        try:
            await work
        except SluiceError as error:
            self.log.error("list.schedule_failed", error)


@asynccontextmanager
async def hold_large_slot(turns: CompilationTurns, clock: Clock) -> AsyncIterator[None]:
    """Hold the isolate's place for a long list, and free what earlier work has left in cycles."""
    async with turns.take(clock, OPERATOR) as turn:
        await turn.wait()
        gc.collect()
        yield
