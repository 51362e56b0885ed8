"""POST /compile and /compile/batch: lists for callers who wait for them."""

import asyncio
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.errors import Invalid, SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import HeaderPairs
from sluice.services.compiler.cache.compiled_list import CACHED_HEAD, FRESH_HEAD, SHARED_HEAD
from sluice.services.compiler.cache.list_cache import SYNC_TTL_S
from sluice.services.compiler.cache.list_provider import ListProvider
from sluice.services.compiler.cache.served_list import ListForm, ListOrigin, ServedList
from sluice.services.compiler.ports import ReadGuardedBody
from sluice.services.compiler.requests import MAX_BODY_BYTES, BatchItem, BatchRequest, CompileRequest
from sluice.web import Reply, Request, choose_media_type, encode_json
from sluice.web.negotiate import accepts_gzip

MAX_CONCURRENT: Final = 3
_HEADS: Final[Mapping[ListOrigin, bytes]] = {"cached": CACHED_HEAD, "fresh": FRESH_HEAD, "shared": SHARED_HEAD}
_ORIGIN_HEADERS: Final[Mapping[ListOrigin, HeaderPairs]] = {
    "cached": (("X-Cache", "HIT"),),
    "fresh": (("X-Cache", "MISS"),),
    "shared": (("X-Cache", "MISS"), ("X-Request-Deduplication", "HIT")),
}
_MEDIA_TYPES: Final[Mapping[ListForm, str]] = {"json": "application/json", "text": "text/plain; charset=utf-8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileApi:
    guard: ReadGuardedBody
    lists: ListProvider

    async def compile(self, request: Request) -> Reply:
        body = parse_model(CompileRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        media_type = choose_media_type(request.headers.get("accept"), ("application/json", "text/plain"))
        form: ListForm = "text" if media_type == "text/plain" else "json"
        return build_list_reply(request, await self._serve(body, form), form)

    async def compile_batch(self, request: Request) -> Reply:
        """Serves every item separately, three at a time, and replies in the order of the items."""
        body = parse_model(BatchRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        slots = asyncio.Semaphore(MAX_CONCURRENT)

        async def serve_in_slot(item: BatchItem) -> bytes:
            async with slots:
                return await self._serve_item(item)

        results = await asyncio.gather(*(serve_in_slot(item) for item in body.requests))
        content = b'{"success":true,"results":[' + b",".join(results) + b"]}"
        return Reply(200, (("Content-Type", "application/json"),), content)

    async def _serve(self, body: CompileRequest, form: ListForm) -> ServedList:
        """A list from the caller's own content, or with a report of every dropped line, is made for this caller alone."""
        configuration, content = body.configuration, body.pre_fetched_content
        if content or body.report:
            return await self.lists.compile_private(
                configuration, form=form, content=content, detailed=body.report, trigger="sync"
            )
        return await self.lists.serve(configuration, form=form, ttl_s=SYNC_TTL_S, trigger="sync")

    async def _serve_item(self, item: BatchItem) -> bytes:
        head = f'{{"id":{encode_json(item.id)},'.encode()
        try:
            served = await self._serve_json(parse_configuration(item.configuration), item.pre_fetched_content)
        except SluiceError as error:
            return head + encode_json(_failure_as_json(error))[1:].encode()
        assert served.file  # noqa: S101 - the form "json" has a file
        return head + _HEADS[served.origin][1:] + served.file.body.inflate()

    async def _serve_json(self, configuration: Configuration, content: Mapping[str, str]) -> ServedList:
        if content:
            return await self.lists.compile_private(
                configuration, form="json", content=content, detailed=False, trigger="batch"
            )
        return await self.lists.serve(configuration, form="json", ttl_s=SYNC_TTL_S, trigger="batch")


def build_list_reply(request: Request, served: ServedList, form: ListForm) -> Reply:
    """Sends the gzip file as it is stored; decompresses it only for a client that does not accept gzip."""
    assert served.file  # noqa: S101 - both forms of this reply have a file
    headers = (
        ("Content-Type", _MEDIA_TYPES[form]),
        ("Cache-Control", "no-store"),
        ("Vary", "Accept, Accept-Encoding"),
        *_ORIGIN_HEADERS[served.origin],
    )
    if accepts_gzip(request.headers.get("accept-encoding")):
        return Reply(200, (*headers, ("Content-Encoding", "gzip")), served.file.content)
    return Reply(200, headers, gzip.decompress(served.file.content))


def _failure_as_json(error: SluiceError) -> dict[str, Any]:
    values: dict[str, Any] = {"success": False, "error": str(error), "status": error.status}
    if isinstance(error, Invalid) and error.fields:
        values["errors"] = [{"path": field.field, "reason": field.reason} for field in error.fields]
    return values
