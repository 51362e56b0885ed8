"""POST /compile for what was asked for lately in the same words: answered from memory, otherwise compiled."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sluice.services.compiler.cache.compilation_records import Count
from sluice.services.compiler.cache.hot_replies import MAX_REQUEST_BYTES, HotReplies, is_small, request_key
from sluice.services.compiler.cache.served_list import ServedList
from sluice.services.compiler.guard.guard import Guard
from sluice.services.compiler.http.compile import wants_fresh
from sluice.web import Reply, Request, read_bytes

CompileList = Callable[[Request], Awaitable[tuple[Reply, ServedList]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HotListApi:
    """`find_compiler` makes the parts that a compilation needs; a hit needs none of them."""

    guard: Guard
    hot_replies: HotReplies
    count: Count
    find_compiler: Callable[[], CompileList]

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
