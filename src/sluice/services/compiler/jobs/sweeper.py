"""Resends lost jobs on an alarm of its own, which survives every crash."""

from dataclasses import dataclass
from typing import Final, Protocol

from sluice.core.ports import Alarm, Clock
from sluice.core.waits import clamp_wait, is_waiting
from sluice.services.compiler.jobs.job_store import JobStore

INTERVAL_S: Final = 15.0
OBJECT_NAME: Final = "jobs"  # there is one object


class SweeperCalls(Protocol):
    """What the one sweeper object does."""

    async def arm(self) -> None: ...


@dataclass(slots=True)
class IsolateLife:
    """When an isolate began to sweep. It outlives the object, which the platform makes anew for each alarm, but no restart."""

    began_at: float | None = None

    def find_beginning(self, clock: Clock) -> float:
        now = clock.now()
        self.began_at = clamp_wait(now if self.began_at is None else self.began_at, now, 0)
        return self.began_at


THIS_ISOLATE: Final = IsolateLife()


class Sweeper:
    """Resends lost jobs when its alarm rings. It lives in one object; every accepted job arms it, and it arms itself while any job is unfinished."""

    def __init__(self, jobs: JobStore, alarm: Alarm, clock: Clock, isolate: IsolateLife) -> None:
        self._jobs = jobs
        self._alarm = alarm
        self._clock = clock
        self._isolate = isolate
        self._armed_at: float | None = None  # by a caller of this instance

    async def arm(self) -> None:
        """Set the alarm. The caller stores the row of its job a little later."""
        self._armed_at = now = self._clock.now()
        at = await self._alarm.get()
        if at is None or not is_waiting(at, now, INTERVAL_S):
            await self._alarm.set(now + INTERVAL_S)

    async def sweep(self) -> None:
        """Set the next alarm first, so that a failure of this sweep is repaired by the next."""
        now, armed_at = self._clock.now(), self._armed_at
        armed_lately = armed_at is not None and is_waiting(armed_at + INTERVAL_S, now, INTERVAL_S)
        if armed_lately or await self._jobs.has_unfinished():
            await self._alarm.set(now + INTERVAL_S)
            await self._jobs.resend_lost(self._isolate.find_beginning(self._clock))
