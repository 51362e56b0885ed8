"""The builds of lists: one at a time for each list, the others wait in the order in which they were asked for."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Conflict, TooManyRequests
from sluice.core.ports import Clock, Database, DatabaseRow

# Longer than the longest step with its retries; a build that has not moved for so long has been given up by the engine.
LEASE_MS: Final = 40 * 60 * 1000
MAX_WAIT_MS: Final = 3 * 3600 * 1000
MAX_WAITING: Final = 10  # builds of one list

_ADD: Final = """
insert into published_builds (id, list, requested_ms, rollback_to) select ?1, ?2, ?3, ?4
where (select count(*) from published_builds where list = ?2 and ended_ms is null) <= ?5
and not exists (select 1 from published_builds where id = ?1) and exists (select 1 from published_lists where name = ?2)
"""
# The clock was set back: no build holds its list, or waits for it, longer than one of now.
_CLAMP: Final = """
update published_builds set lease_ms = min(lease_ms, ?1 + ?2), requested_ms = min(requested_ms, ?1)
where list = ?3 and ended_ms is null and (lease_ms > ?1 + ?2 or requested_ms > ?1)
"""
_GIVE_UP: Final = """
update published_builds
set ended_ms = ?1, outcome = 'failed', reason = 'it did not continue after an interruption', definition = null
where list = ?2 and ended_ms is null and (lease_ms < ?1 or (started_ms is null and requested_ms < ?3))
"""
# What the list is when the build begins is what it makes.
_CLAIM: Final = """
update published_builds set started_ms = coalesce(started_ms, ?1), lease_ms = ?2,
  definition = coalesce(definition, (select definition from published_lists where name = published_builds.list))
where id = ?3 and ended_ms is null
and not exists (
  select 1 from published_builds as other where other.list = published_builds.list and other.ended_ms is null
  and other.id <> published_builds.id and (
    other.started_ms is not null
    or (published_builds.started_ms is null
      and (other.requested_ms, other.id) < (published_builds.requested_ms, published_builds.id))
  )
)
"""
_RENEW: Final = "update published_builds set lease_ms = ? where id = ? and started_ms is not null and ended_ms is null"
# For statements that only the build may run that holds its list.
HOLDS: Final = "exists (select 1 from published_builds where id = ? and started_ms is not null and ended_ms is null)"
_LAST: Final = """
select * from published_builds where list = ? and started_ms is not null order by started_ms desc, requested_ms desc limit 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildQueue:
    database: Database
    clock: Clock

    async def add(self, name: str, build_id: str, *, rollback_to: int | None = None) -> None:
        """Add a build, unless it is there; raise TooManyRequests if many wait already."""
        added = await self.database.run(_ADD, build_id, name, self._now_ms(), rollback_to, MAX_WAITING)
        if not added.changes and await self.find(build_id) is None:
            raise TooManyRequests(f"{MAX_WAITING} builds of {name} wait already: wait for them", 60)

    async def withdraw(self, build_id: str) -> None:
        """Remove a build that could not be started, so that later ones do not wait for it."""
        await self.database.run("delete from published_builds where id = ? and started_ms is null", build_id)

    async def claim(self, name: str, build_id: str) -> bool:
        """Return whether the build may run now. One that has not moved for long makes room."""
        now_ms = self._now_ms()
        *_, claimed = await self.database.batch(
            [
                (_CLAMP, (now_ms, LEASE_MS, name)),
                (_GIVE_UP, (now_ms, name, now_ms - MAX_WAIT_MS)),
                (_CLAIM, (now_ms, now_ms + LEASE_MS, build_id)),
            ]
        )
        return bool(claimed.changes)

    async def renew(self, build_id: str) -> None:
        """Raise Conflict if the build no longer holds its list: it was given up, or the list was deleted."""
        renewed = await self.database.run(_RENEW, self._now_ms() + LEASE_MS, build_id)
        if not renewed.changes:
            raise Conflict(f"{build_id} no longer holds its list")

    async def find(self, build_id: str) -> DatabaseRow | None:
        return await self.database.first("select * from published_builds where id = ?", build_id)

    async def find_last(self, name: str) -> DatabaseRow | None:
        """Return the build that was started last."""
        return await self.database.first(_LAST, name)

    async def load_waiting(self) -> list[DatabaseRow]:
        """Return every build that has not ended."""
        return await self.database.all("select * from published_builds where ended_ms is null order by requested_ms")

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)
