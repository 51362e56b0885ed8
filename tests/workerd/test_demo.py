"""The demo fills every service with something to see, from this machine alone."""

import socket
from typing import Any

import httpx

from runtime import PATIENCE_S, until
from workerd.conftest import StartRuntime


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_demo(start: StartRuntime):
    """A list is compiled from the printed address, a page of the site is warm, every story is read, sources were checked."""
    port = free_port()
    runtime = start("--demo", "--port", str(port))
    until(lambda: any("The demo is filled" in line for line in runtime.lines))
    address = next(line.split("paste ")[1].split(" ")[0] for line in runtime.lines if "paste " in line)
    configuration = {
        "name": "Demo",
        "sources": [{"source": address}],
        "transformations": ["RemoveComments", "Validate"],
    }

    def ask(host: str, path: str) -> httpx.Response:
        return httpx.get(f"{runtime.url}{path}", headers={"Host": f"{host}:{port}"}, timeout=PATIENCE_S)

    def warm() -> Any:
        return ask("shop.localhost", "/blog/post-1/").headers.get("X-Cache-Layer") in {"EDGE", "R2"}

    compiled = httpx.post(f"{runtime.url}/compile", json={"configuration": configuration}, timeout=PATIENCE_S).json()
    assert compiled["ruleCount"] == 2500
    assert until(warm)
    articles = ask("worker-api.localhost", "/api/v1/articles").json()["articles"]
    assert len(articles) == 6
    assert all(article["aiSummary"] for article in articles)
    assert until(lambda: ask("adblock-compiler.localhost", "/health/latest").json()["data"])["summary"]["total"] == 3
