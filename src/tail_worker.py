"""sluice-tail: stores the events of the other Workers and reports failures to a webhook."""

from typing import Any

from workers import WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.worker import handle_request
from sluice.workers.tail import open_tail

__all__ = ["Default"]

NAME = "sluice-tail"
BINDINGS = (Binding("ASSETS", "service"), Binding("TAIL_LOGS", "kv"))


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await handle_request(self, request, NAME, BINDINGS, open_tail)

    async def tail(self, items: Any, _env: Any = None, _ctx: Any = None) -> None:
        await open_tail(self.env, self.ctx).tail.handle_delivery(items)
