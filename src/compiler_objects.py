"""The Durable Objects of adblock-compiler."""

from typing import Any

from workers import DurableObject

from sluice.core.remote import answer_calls
from sluice.services.compiler.cache.remote_single_flight import CompilationCalls
from sluice.services.compiler.guard.rate_limit_window import RateLimitCalls
from sluice.workers.compiler import open_object

__all__ = ["CompilationObject", "JobSweeper", "RateLimiter"]


class _Object(DurableObject):
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.parts = open_object(env, ctx)

    async def ping(self) -> str:
        return "pong"


class CompilationObject(_Object):
    """One for each configuration: compiles it once for all callers at the same time."""

    async def call(self, name: str, message: Any) -> Any:
        return await answer_calls(CompilationCalls)(self.parts.compilation_server, name, message)


class RateLimiter(_Object):
    """One for each client: counts its requests."""

    async def call(self, name: str, message: Any) -> Any:
        return await answer_calls(RateLimitCalls)(self.parts.client_rate_limit, name, message)

    async def alarm(self) -> None:
        await self.parts.client_rate_limit.erase_if_over()


class JobSweeper(_Object):
    """One for all jobs: resends lost messages until every job is done."""

    async def call(self, name: str, message: Any) -> Any:
        from sluice.services.compiler.jobs.sweeper import SweeperCalls  # noqa: PLC0415 - rare

        return await answer_calls(SweeperCalls)(self.parts.job_sweeper, name, message)

    async def alarm(self) -> None:
        await self.parts.job_sweeper.sweep()
