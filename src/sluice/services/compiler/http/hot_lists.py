"""POST /compile for what was asked for lately in the same words: answered from memory, otherwise compiled."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sluice.services.compiler.cache.compilation_records import Count
from sluice.services.compiler.cache.hot_replies import MAX_REQUEST_BYTES, HotReplies, is_small, request_key
from sluice.services.compiler.cache.served_list import ServedList
from sluice.services.compiler.guard.guard import REFUSED, TOKEN, Guard
from sluice.services.compiler.http.compile import CompiledList, wants_fresh
from sluice.services.compiler.limits.memory import MAX_REPORTED_BYTES, MAX_TEXT_BYTES
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.requests import COMPILE_EXAMPLE, CompileRequest
from sluice.web import Reply, Request, read_bytes
from sluice.web.operations import Media, Operation, ReplyDoc, describe

CompileList = Callable[[Request], Awaitable[tuple[Reply, ServedList]]]


_WHERE_CACHED: Final = {
    "X-Cache": "HIT if the list was in the cache, else MISS.",
    "X-Request-Deduplication": "HIT if another request compiled the list at the same time.",
}
COMPILE_LIST: Final = Operation(
    "compileList",
    "Compile a list",
    {200: ReplyDoc("The list.", (CompiledList, Media("text/plain", "The list, a rule on each line.")), _WHERE_CACHED)},
    "With `Accept: text/plain` the reply is the list itself. Equal requests share one compilation, and its "
    "result is cached for an hour; `Cache-Control: no-cache` compiles anew and replaces it. With `preFetchedContent`, "
    "`report` or `benchmark` the list is compiled for this caller alone. One request causes at most 100 fetches, with "
    f"includes, redirects and retries. A source may have {LIMITS.source_bytes:,} bytes; all sources together "
    f"{LIMITS.total_bytes:,} bytes, {LIMITS.total_lines:,} lines and {MAX_TEXT_BYTES:,} bytes of memory as text "
    f"({MAX_REPORTED_BYTES:,} with `report`). What is larger is 413, and a job that fails for it is not tried again.",
    tag="Compile",
    body=CompileRequest,
    body_extras=TOKEN,
    example=COMPILE_EXAMPLE,
    problems=(*REFUSED, 502, 504),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HotListApi:
    """Answers POST /compile from memory, or compiles. `find_compiler` makes the parts that a compilation needs; a hit needs none of them."""

    guard: Guard
    hot_replies: HotReplies
    count: Count
    find_compiler: Callable[[], CompileList]

    @describe(COMPILE_LIST)
    async def compile(self, request: Request) -> Reply:
        if self.guard.checks_tokens or not is_small(request) or wants_fresh(request):
            reply, _ = await self.find_compiler()(request)
            return reply
        content = await read_bytes(request, max_bytes=MAX_REQUEST_BYTES)
        key = request_key(request.headers, content)
        if hot := self.hot_replies.find(key):
            await self.guard.charge_hit(request)
            self.count("cache", "hit")
            return hot
        reply, served = await self.find_compiler()(request.with_body(content))
        if served.origin == "cached":
            self.hot_replies.keep(key, served.summary.cache_key, reply)
        return reply
