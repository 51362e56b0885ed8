"""The Durable Objects of adblock-compiler: shells around what they do."""

from typing import Any

from workers import DurableObject

from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, Sql, erase_storage
from sluice.services.compiler.cache.shared_flight import take_in_object
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.guard.rate_limit import ClientLimit, Window
from sluice.services.compiler.jobs.sweeper import Sweeper
from sluice.workers.compiler import CompilerService

__all__ = ["CompilationObject", "JobSweeper", "RateLimiter"]


class _Object(DurableObject):
    async def ping(self) -> str:
        return "pong"


class CompilationObject(_Object):
    """One per configuration: compiles it once for all who ask at the same time."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.flight = SingleFlight(CompilerService(env, ctx).compilations)

    async def take(self, given: str, form: Any, ttl_s: int, path: str) -> dict[str, Any]:
        return await take_in_object(self.flight, given, form, ttl_s, path)


class RateLimiter(_Object):
    """One per client: counts its requests."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        storage = ctx.storage
        self.limit = ClientLimit(Window(Sql(storage), SystemClock()), Alarm(storage), lambda: erase_storage(storage))

    async def take(self, max_requests: int, window_s: int) -> dict[str, Any]:
        return await self.limit.take(max_requests, window_s)

    async def alarm(self) -> None:
        await self.limit.forget()


class JobSweeper(_Object):
    """There is one: looks after the jobs until all are done."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.sweeper = Sweeper(CompilerService(env, ctx).jobs, Alarm(ctx.storage), SystemClock())

    async def arm(self) -> None:
        await self.sweeper.arm()

    async def alarm(self) -> None:
        await self.sweeper.ring()
