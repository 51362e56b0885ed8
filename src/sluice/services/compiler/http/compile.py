"""POST /compile and /compile/batch: a list for somebody who waits for it."""

import asyncio
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.errors import Invalid, SluiceError
from sluice.services.compiler.cache.cache import SYNC_TTL_S
from sluice.services.compiler.cache.provider import Desk
from sluice.services.compiler.cache.results import CACHED, FRESH, SHARED, unpacked
from sluice.services.compiler.cache.single_flight import Flown, Form
from sluice.services.compiler.ports import Guarded
from sluice.services.compiler.requests import MAX_BODY_BYTES, BatchItem, BatchRequest, CompileRequest
from sluice.web import Reply, Request, choose_media_type, encode_json, parse_model
from sluice.web.headers import HeaderPairs
from sluice.web.negotiate import accepts_gzip

MAX_AT_ONCE: Final = 3
_HEADS: Final = {"cached": CACHED, "fresh": FRESH, "shared": SHARED}
_TOLD: Final[Mapping[str, HeaderPairs]] = {
    "cached": (("X-Cache", "HIT"),),
    "fresh": (("X-Cache", "MISS"),),
    "shared": (("X-Cache", "MISS"), ("X-Request-Deduplication", "HIT")),
}
_TYPES: Final[Mapping[Form, str]] = {"json": "application/json", "text": "text/plain; charset=utf-8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileApi:
    guard: Guarded
    desk: Desk

    async def compile(self, request: Request) -> Reply:
        given = parse_model(CompileRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        wanted = choose_media_type(request.headers.get("accept"), ("application/json", "text/plain"))
        form: Form = "text" if wanted == "text/plain" else "json"
        return list_reply(request, await self._flown(given, form), form)

    async def batch(self, request: Request) -> Reply:
        """Every item is settled on its own, three at a time, and told in the order it was asked for."""
        given = parse_model(BatchRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        slots = asyncio.Semaphore(MAX_AT_ONCE)

        async def settled(item: BatchItem) -> bytes:
            async with slots:
                return await self._settled(item)

        results = await asyncio.gather(*(settled(item) for item in given.requests))
        body = b'{"success":true,"results":[' + b",".join(results) + b"]}"
        return Reply(200, (("Content-Type", "application/json"),), body)

    async def _flown(self, given: CompileRequest, form: Form) -> Flown:
        """Content sent along, or a report of every dropped line, is made for this caller alone."""
        configuration, content = given.configuration, given.pre_fetched_content
        if content or given.report:
            return await self.desk.make(configuration, form=form, content=content, detailed=given.report, path="sync")
        return await self.desk.take(configuration, form=form, ttl_s=SYNC_TTL_S, path="sync")

    async def _settled(self, item: BatchItem) -> bytes:
        head = f'{{"id":{encode_json(item.id)},'.encode()
        try:
            flown = await self._item(parse_configuration(item.configuration), item.pre_fetched_content)
        except SluiceError as error:
            return head + encode_json(_failure(error))[1:].encode()
        assert flown.file  # noqa: S101 - asked for as JSON
        return head + _HEADS[flown.origin][1:] + unpacked(flown.file.packed)

    async def _item(self, configuration: Configuration, content: Mapping[str, str]) -> Flown:
        if content:
            return await self.desk.make(configuration, form="json", content=content, detailed=False, path="batch")
        return await self.desk.take(configuration, form="json", ttl_s=SYNC_TTL_S, path="batch")


def list_reply(request: Request, flown: Flown, form: Form) -> Reply:
    """The file as it is; only for a caller who cannot unpack it, it is unpacked here."""
    assert flown.file  # noqa: S101 - asked for in this form
    headers = (
        ("Content-Type", _TYPES[form]),
        ("Cache-Control", "no-store"),
        ("Vary", "Accept, Accept-Encoding"),
        *_TOLD[flown.origin],
    )
    if accepts_gzip(request.headers.get("accept-encoding")):
        return Reply(200, (*headers, ("Content-Encoding", "gzip")), flown.file.content)
    return Reply(200, headers, gzip.decompress(flown.file.content))


def _failure(error: SluiceError) -> dict[str, Any]:
    told: dict[str, Any] = {"success": False, "error": str(error), "status": error.status}
    if isinstance(error, Invalid) and error.fields:
        told["errors"] = [{"path": field.field, "reason": field.reason} for field in error.fields]
    return told
