"""POST /compile and /compile/batch: lists for callers who wait for them."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, NotRequired, TypedDict

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.doc import Doc
from sluice.core.errors import Invalid, SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import HeaderPairs
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import CACHED_HEAD, FRESH_HEAD, SHARED_HEAD, FilterList, GzippedList
from sluice.services.compiler.cache.list_provider import ListProvider
from sluice.services.compiler.cache.served_list import ListForm, ListOrigin, ServedList
from sluice.services.compiler.guard.guard import REFUSED, TOKEN
from sluice.services.compiler.limits.allowance import (
    count_sent_files,
    count_sent_sources,
    share_fetches,
)
from sluice.services.compiler.ports import CountingGuard
from sluice.services.compiler.requests import BATCH_EXAMPLE, MAX_BODY_BYTES, BatchItem, BatchRequest, CompileRequest
from sluice.web import Reply, Request, encode_json
from sluice.web.clients import find_client
from sluice.web.negotiate import accepts_gzip, choose_media_type
from sluice.web.operations import Operation, ReplyDoc, describe
from sluice.web.problems import FieldProblem

MAX_CONCURRENT: Final = 3
# A longer list is sent in chunks to a client that does not accept gzip.
MAX_WHOLE_BYTES: Final = 1_000_000
_HEADS: Final[Mapping[ListOrigin, bytes]] = {"cached": CACHED_HEAD, "fresh": FRESH_HEAD, "shared": SHARED_HEAD}
_ORIGIN_HEADERS: Final[Mapping[ListOrigin, HeaderPairs]] = {
    "cached": (("X-Cache", "HIT"),),
    "fresh": (("X-Cache", "MISS"),),
    "shared": (("X-Cache", "MISS"), ("X-Request-Deduplication", "HIT")),
}
_MEDIA_TYPES: Final[Mapping[ListForm, str]] = {"json": "application/json", "text": "text/plain; charset=utf-8"}


class CompiledList(FilterList, TypedDict):
    """`cached` if the list was in the cache, `deduplicated` if another request compiled it at the same time."""

    success: Literal[True]
    cached: NotRequired[Literal[True]]
    deduplicated: NotRequired[Literal[True]]


class BatchItemList(CompiledList):
    id: str


class BatchItemError(TypedDict):
    id: str
    success: Literal[False]
    error: str
    status: Annotated[int, Doc("The status that the same request would have had alone.")]
    errors: NotRequired[list[FieldProblem]]


class BatchReply(TypedDict):
    success: Literal[True]
    results: Annotated[list[BatchItemList | BatchItemError], Doc("In the order of the requests.")]


COMPILE_BATCH: Final = Operation(
    "compileBatch",
    "Compile 1 to 10 lists",
    {200: ReplyDoc("A result for each request.", BatchReply)},
    "Each list is compiled separately: one that fails does not affect the others. Together they cause at most "
    "100 fetches, and for the rate limit a batch counts as one request for each ten sources begun.",
    tag="Compile",
    body=BatchRequest,
    body_extras=TOKEN,
    example=BATCH_EXAMPLE,
    problems=REFUSED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileApi:
    guard: CountingGuard
    lists: ListProvider

    async def compile(self, request: Request) -> tuple[Reply, ServedList]:
        """Return the reply, and the list that it was made of."""
        body = parse_model(CompileRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        media_type = choose_media_type(request.headers.get("accept"), ("application/json", "text/plain"))
        form: ListForm = "text" if media_type == "text/plain" else "json"
        served = await self._serve(body, form, fresh=wants_fresh(request), client=find_client(request.client_ip).key)
        return build_list_reply(request, served, form), served

    @describe(COMPILE_BATCH)
    async def compile_batch(self, request: Request) -> Reply:
        """Serve every item separately; reply in the order of the items, while the later ones are compiled."""
        body = parse_model(BatchRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        fetches = share_fetches([count_sent_files(item.configuration) for item in body.requests])
        await self.guard.charge_sources(request, sum(count_sent_sources(item.configuration) for item in body.requests))
        items = list(zip(body.requests, fetches, strict=True))
        return Reply.stream(
            self._serve_items(items, find_client(request.client_ip).key), content_type="application/json"
        )

    async def _serve_items(self, items: Sequence[tuple[BatchItem, int]], client: str) -> AsyncIterator[bytes]:
        """Yield the reply. Three items are served at a time; none begins before there is room for its list."""
        yield b'{"success":true,"results":['
        tasks: deque[asyncio.Future[ServedList | SluiceError]] = deque()
        waiting = deque(items)
        try:
            for at, (item, _) in enumerate(items):
                while waiting and len(tasks) < MAX_CONCURRENT:
                    tasks.append(asyncio.ensure_future(self._serve_item(*waiting.popleft(), client)))
                yield b"," if at else b""
                for chunk in _encode_item(item.id, await tasks.popleft()):
                    yield chunk
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        yield b"]}"

    async def _serve(self, body: CompileRequest, form: ListForm, *, fresh: bool, client: str) -> ServedList:
        """Return the list. One from the caller's own content, with a report or with a benchmark is made for this caller alone."""
        order = CompileOrder.of(body, body.configuration, trigger="sync")
        return await self._serve_order(replace(order, form=form, detailed=body.report, fresh=fresh, client=client))

    async def _serve_item(self, item: BatchItem, max_fetches: int, client: str) -> ServedList | SluiceError:
        try:
            configuration = parse_configuration(item.configuration)
            order = CompileOrder.of(item, configuration, trigger="batch", max_fetches=max_fetches)
            return await self._serve_order(replace(order, form="json", client=client))
        except SluiceError as error:
            return error

    async def _serve_order(self, order: CompileOrder) -> ServedList:
        serve = self.lists.compile_private if order.is_for_caller_alone else self.lists.serve
        return await serve(order)


def _encode_item(item_id: str, outcome: ServedList | SluiceError) -> Iterator[bytes]:
    if isinstance(outcome, SluiceError):
        yield encode_json(_describe_failure(item_id, outcome)).encode()
        return
    yield f'{{"id":{encode_json(item_id)},'.encode()
    assert outcome.file  # noqa: S101 - the form "json" has a file
    yield _HEADS[outcome.origin][1:]
    yield from outcome.file.body.inflate_chunks()


def wants_fresh(request: Request) -> bool:
    """Return whether the caller wants the list compiled anew: Cache-Control: no-cache."""
    directives = request.headers.get("cache-control", "").lower().split(",")
    return "no-cache" in {directive.strip() for directive in directives}


def build_list_reply(request: Request, served: ServedList, form: ListForm) -> Reply:
    """Send the gzip file as it is stored; decompress it only for a client that does not accept gzip."""
    assert served.file  # noqa: S101 - both forms of this reply have a file
    headers = (
        ("Content-Type", _MEDIA_TYPES[form]),
        ("Vary", "Accept, Accept-Encoding"),
        *_ORIGIN_HEADERS[served.origin],
    )
    if accepts_gzip(request.headers.get("accept-encoding")):
        return Reply(200, (*headers, ("Content-Encoding", "gzip")), served.file.content)
    if served.file.size <= MAX_WHOLE_BYTES:
        return Reply(200, headers, b"".join(served.file.inflate_chunks()))
    return Reply(200, headers, _send_chunks(served.file))


async def _send_chunks(file: GzippedList) -> AsyncIterator[bytes]:
    for chunk in file.inflate_chunks():
        yield chunk


def _describe_failure(item_id: str, error: SluiceError) -> BatchItemError:
    values: BatchItemError = {"id": item_id, "success": False, "error": str(error), "status": error.status}
    if isinstance(error, Invalid) and error.fields:
        values["errors"] = [{"path": field.field, "reason": field.reason} for field in error.fields]
    return values
