"""The Worker that ./scripts/bench compile measures: PUT stores a list, GET transforms it, POST compiles a configuration."""

import random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyodide_js
from workers import Response, WorkerEntrypoint

from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.sources.download import make_download
from sluice.core.filters.pipeline import transform
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.clock import SystemClock
from sluice.platform.http.transport import send_request

__all__ = ["Default"]

STORED_LIST: list[str] = []


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Response:
        lines = 0
        if request.method == "PUT":
            STORED_LIST[:] = [await request.text()]
        elif request.method == "POST":
            lines = len((await self.compiler().compile(await request.json())).rules)
        else:
            names = parse_qs(urlsplit(request.url).query)["name"]
            lines = len(transform(STORED_LIST[0].replace("\r\n", "\n").split("\n"), names))
        heap = pyodide_js._module.HEAPU8.length  # noqa: SLF001 - it never shrinks, so it is the maximum
        return Response.from_json({"heap": heap, "lines": lines})

    def compiler(self) -> FilterCompiler:
        fetcher = Fetcher(send_request, AllowedHosts.parse(self.env.ALLOW_PRIVATE_HOSTS))
        download = make_download(fetcher.fetch, max_bytes=30_000_000, timeout_s=60)
        return FilterCompiler(download=download, clock=SystemClock(), draw=random.random)
