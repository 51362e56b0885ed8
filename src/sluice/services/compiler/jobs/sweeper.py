"""Resends lost jobs on an alarm of its own, which survives every crash."""

from collections.abc import Awaitable
from typing import Final, Protocol

from sluice.core.ports import Alarm, Clock
from sluice.services.compiler.jobs.job_store import JobStore
from sluice.services.compiler.remote_calls import RemoteReply, encode_reply

INTERVAL_S: Final = 15.0
OBJECT_NAME: Final = "jobs"  # there is one object


class SweeperStub(Protocol):
    """The one sweeper object, as its callers see it."""

    def arm(self) -> Awaitable[RemoteReply]: ...


class Sweeper:
    """Lives in one object. Every accepted job arms it, and it arms itself while any job is unfinished."""

    def __init__(self, jobs: JobStore, alarm: Alarm, clock: Clock) -> None:
        self._jobs = jobs
        self._alarm = alarm
        self._clock = clock
        self._armed_at: float | None = None  # by a caller of this instance

    async def arm(self) -> RemoteReply:
        """Sets the alarm. The caller stores the row of its job a little later."""
        return await encode_reply(self._arm())

    async def sweep(self) -> None:
        """Sets the next alarm first, so that a failure of this sweep is repaired by the next."""
        armed_lately = self._armed_at is not None and self._clock.now() - self._armed_at < INTERVAL_S
        if armed_lately or await self._jobs.has_unfinished():
            await self._alarm.set(self._clock.now() + INTERVAL_S)
            await self._jobs.resend_lost()

    async def _arm(self) -> None:
        self._armed_at = self._clock.now()
        if await self._alarm.get() is None:
            await self._alarm.set(self._clock.now() + INTERVAL_S)
