"""The Durable Objects of adblock-compiler, composed from their storage."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from sluice.platform.durable_objects import Alarm, Sql, erase_storage
from sluice.services.compiler.cache.remote_single_flight import CompilationServer
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.guard.rate_limit_window import ClientRateLimit, RateLimitWindow
from sluice.workers.compiler_parts import CLOCK, CompilerParts

if TYPE_CHECKING:
    from sluice.services.compiler.jobs.sweeper import Sweeper


class CompilerObjects(CompilerParts):
    """`ctx` is the state of the object."""

    @cached_property
    def compilation_server(self) -> CompilationServer:
        return CompilationServer(SingleFlight(self.list_compiler))

    @cached_property
    def client_rate_limit(self) -> ClientRateLimit:
        storage = self.ctx.storage
        return ClientRateLimit(RateLimitWindow(Sql(storage), CLOCK), Alarm(storage), partial(erase_storage, storage))

    @cached_property
    def job_sweeper(self) -> Sweeper:
        from sluice.services.compiler.jobs.sweeper import Sweeper

        return Sweeper(self.jobs, Alarm(self.ctx.storage), CLOCK)
