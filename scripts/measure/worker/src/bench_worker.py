"""Keeps the lists given by POST, and transforms them all as one as often as GET asks; the caller measures the time."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyodide_js
from sluice.filters.pipeline import transform
from workers import Response, WorkerEntrypoint

__all__ = ["Default"]

TEXTS: list[str] = []


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Response:
        query = parse_qs(urlsplit(request.url).query)
        if request.method == "DELETE":
            TEXTS.clear()
        elif request.method == "POST":
            TEXTS.append(await request.text())
        else:
            for _ in range(int(query["runs"][0])):
                transform("\n".join(TEXTS).replace("\r\n", "\n").split("\n"), query["name"])
        return Response.from_json({"heap": pyodide_js._module.HEAPU8.length})  # noqa: SLF001
