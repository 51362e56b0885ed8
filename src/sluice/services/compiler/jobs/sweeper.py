"""Looks after the jobs on an alarm of its own, which survives every crash."""

from typing import Final

from sluice.core.ports import Alarm, Clock
from sluice.services.compiler.jobs.jobs import Jobs

INTERVAL_S: Final = 15.0


class Sweeper:
    """Lives in one object: armed by every accepted job, and by itself for as long as one is under way."""

    def __init__(self, jobs: Jobs, alarm: Alarm, clock: Clock) -> None:
        self._jobs = jobs
        self._alarm = alarm
        self._clock = clock
        self._armed_at = clock.now()

    async def arm(self) -> None:
        """Called before a job is stored, so the row may come a little later than this."""
        self._armed_at = self._clock.now()
        if await self._alarm.get() is None:
            await self._alarm.set(self._clock.now() + INTERVAL_S)

    async def ring(self) -> None:
        """The next alarm first, so that what goes wrong in this round is mended in the next."""
        lately = self._clock.now() - self._armed_at < INTERVAL_S
        if lately or await self._jobs.under_way():
            await self._alarm.set(self._clock.now() + INTERVAL_S)
            await self._jobs.sweep()
