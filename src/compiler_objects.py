"""The Durable Objects of adblock-compiler."""

from typing import Any

from workers import DurableObject

from sluice.workers.compiler_objects import CompilerObjects

__all__ = ["CompilationObject", "JobSweeper", "RateLimiter"]


class _Object(DurableObject):
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.parts = CompilerObjects(env, ctx)

    async def ping(self) -> str:
        return "pong"


class CompilationObject(_Object):
    """One for each configuration: compiles it once for all callers at the same time."""

    async def serve_list(self, configuration: str, options: Any) -> Any:
        return await self.parts.compilation_server.serve_list(configuration, options)


class RateLimiter(_Object):
    """One for each client: counts its requests."""

    async def count_request(self, max_requests: int, window_s: int, cost: int = 1, owed: int = 0) -> Any:
        return await self.parts.client_rate_limit.count_request(max_requests, window_s, cost, owed)

    async def alarm(self) -> None:
        await self.parts.client_rate_limit.erase_if_over()


class JobSweeper(_Object):
    """One for all jobs: resends lost messages until every job is done."""

    async def arm(self) -> Any:
        return await self.parts.job_sweeper.arm()

    async def alarm(self) -> None:
        await self.parts.job_sweeper.sweep()
