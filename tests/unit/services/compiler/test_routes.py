"""The route table: every handler is found, and a request makes only the parts that it needs."""

from typing import Any

import pytest

from sluice.core.variables import Variables
from sluice.services.compiler.http.routes import compiler_routes
from sluice.services.compiler.settings import Settings
from sluice.web import Handler, Reply, Request
from unit.web.calls import get

SETTINGS = Settings.read(Variables(lambda _name: None))


class Apis:
    """Parts that answer with their own name; records which parts were read."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def __getattr__(self, part: str) -> Any:
        self.parts.append(part)
        return Part(part)


class Part:
    def __init__(self, name: str) -> None:
        self._name = name

    async def __call__(self, _request: Request) -> Reply:
        return Reply.text(self._name)

    def measure(self, path: str, handler: Handler) -> Handler:
        async def handle(request: Request) -> Reply:
            reply = await handler(request)
            return Reply.text(f"{path} measured: {bytes(reply.body).decode()}")  # type: ignore[arg-type]

        return handle

    def limit(self, handler: Handler) -> Handler:
        async def handle(request: Request) -> Reply:
            reply = await handler(request)
            return Reply.text(f"limited: {bytes(reply.body).decode()}")  # type: ignore[arg-type]

        return handle

    def __getattr__(self, name: str) -> "Part":
        return Part(f"{self._name}.{name}")


@pytest.mark.parametrize(
    ("method", "path", "parts", "answer"),
    [
        ("GET", "/", ["show_page"], "show_page"),
        ("POST", "/compile", ["hot_list_api", "request_metrics"], "/compile measured: hot_list_api.compile"),
        ("GET", "/ws/compile", ["socket_api"], "socket_api.connect"),
        ("GET", "/queue/stats", ["queue_api", "read_limit"], "limited: queue_api.show_stats"),
        ("DELETE", "/queue/cancel/:id", ["queue_api"], "queue_api.cancel_by_delete"),
        (
            "POST",
            "/workflow/batch",
            ["workflow_api", "request_metrics"],
            "/workflow/batch measured: workflow_api.start_batch",
        ),
        ("GET", "/metrics/prometheus", ["metrics_api", "read_limit"], "limited: metrics_api.show_prometheus"),
    ],
)
async def test_request_makes_only_its_parts(method: str, path: str, parts: list[str], answer: str):
    """The table itself makes no part; a request makes those of its route."""
    apis = Apis()
    [route] = [route for route in compiler_routes(apis, SETTINGS) if (route.method, route.pattern) == (method, path)]
    assert apis.parts == []
    reply = await route.handler(get("/"))
    assert (apis.parts, reply.body) == (parts, answer.encode())
