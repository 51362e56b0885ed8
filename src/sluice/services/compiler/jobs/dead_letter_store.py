"""The dead letters: jobs and items of batches that failed for good, each with its reason, for the operator.

Each is a row for a week, and an error line, which the tail sends to `ERROR_WEBHOOK_URL`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NotRequired, TypedDict

from sluice.core.compiler.stage_metrics import Amount
from sluice.core.ports import Clock, Database, DatabaseRow, Statement
from sluice.core.timestamps import EpochMs
from sluice.services.compiler.jobs.job_store import RETENTION_S, UNLEASED, JobKind

MAX_SHOWN: Final = 100

_ADD: Final = """
insert into dead_letters (request_id, item_id, kind, config_name, reason, attempts, failed_ms)
select job.request_id, item.item_id, job.kind, job.config_name, coalesce(item.error, 'it failed'), job.attempts, ?2
from compile_jobs as job join compile_items as item on item.owner = job.request_id
where job.request_id = ?1 and not item.success and {only}
on conflict do nothing returning *
"""
# The attempt that fails holds the job; without its number, nobody does.
_HELD: Final = (
    f"""(job.state in ('queued', 'running') and job.attempts = ?3 or ?3 is null and {UNLEASED.format(now="?2")})"""
)
_ADD_HOPELESS_ITEMS: Final = _ADD.format(only="item.permanent")
_ADD_FAILED_ITEMS: Final = _ADD.format(only=_HELD)
# The items of a batch stand for it. A batch without any failed before its items began.
_ADD_JOB: Final = f"""
insert into dead_letters (request_id, item_id, kind, config_name, reason, attempts, failed_ms)
select request_id, '', kind, config_name, coalesce(?4, error, 'the queue gave up after the last retry'), attempts, ?2
from compile_jobs as job
where request_id = ?1 and {_HELD} and not exists (select 1 from compile_items where owner = ?1 and not success)
on conflict do nothing returning *
"""  # noqa: S608 - only constants


class _Item(TypedDict, total=False):
    itemId: str


class DeadLetter(TypedDict):
    """`itemId` names the item of a batch."""

    requestId: str
    itemId: NotRequired[str]
    type: JobKind
    configName: str
    error: str
    attempts: Amount
    timestamp: EpochMs


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLetter:
    """A dead letter as it is stored. `item_id` is "" for a whole job."""

    request_id: str
    item_id: str
    kind: JobKind
    config_name: str
    reason: str
    attempts: int
    failed_ms: int

    def as_json(self) -> DeadLetter:
        item: _Item = {"itemId": self.item_id} if self.item_id else {}
        return {
            "requestId": self.request_id,
            **item,
            "type": self.kind,
            "configName": self.config_name,
            "error": self.reason,
            "attempts": self.attempts,
            "timestamp": self.failed_ms,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterStore:
    """Stores dead letters, each of them once, however often its job is delivered again."""

    database: Database
    clock: Clock

    def add_job(self, request_id: str, attempt: int | None = None, reason: str | None = None) -> list[Statement]:
        """Return the statements that add a failed job, or each failed item of a batch; without a reason, with its last error.

        They return the new letters. They do nothing for an attempt after which another was claimed.
        """
        values = (request_id, self._now_ms(), attempt)
        return [(_ADD_JOB, (*values, reason)), (_ADD_FAILED_ITEMS, values)]

    async def add_hopeless_items(self, request_id: str) -> list[StoredLetter]:
        """Add the items of a batch that no retry can help, while the others go on. Return the new ones."""
        return read_letters((await self.database.run(_ADD_HOPELESS_ITEMS, request_id, self._now_ms())).rows)

    async def load_newest(self) -> list[StoredLetter]:
        query = f"select * from dead_letters order by failed_ms desc, item_id limit {MAX_SHOWN}"  # noqa: S608 - a constant
        return read_letters(await self.database.all(query))

    async def delete_expired(self) -> None:
        """Delete letters together with their jobs: a reason may quote what the caller has sent."""
        before_ms = self._now_ms() - RETENTION_S * 1000
        await self.database.run("delete from dead_letters where failed_ms < ?", before_ms)

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def read_letters(rows: Sequence[DatabaseRow]) -> list[StoredLetter]:
    return [StoredLetter(**row) for row in rows]
