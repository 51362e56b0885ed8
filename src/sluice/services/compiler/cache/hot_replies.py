"""Replies that an isolate sent lately, so that what is asked for often costs neither a read of KV nor parsing.

The key is the exact request, so no configuration is parsed to find a reply. Half a minute adds nothing to what a caller
may see: KV itself may answer with what it read a minute ago.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sluice.core.ports import Clock
from sluice.web import Reply, Request

# KV itself may answer with what it read up to a minute ago.
FRESH_S: Final = 30.0
MAX_REQUEST_BYTES: Final = 16 * 1024
MAX_REPLY_BYTES: Final = 1024 * 1024
MAX_BYTES: Final = 4 * 1024 * 1024
# The headers that choose between the forms of a list.
_VARIED: Final = ("accept", "accept-encoding")

# The body of a request, and the headers that its reply depends on.
RequestKey = tuple[bytes, tuple[str | None, ...]]


@dataclass(frozen=True, slots=True)
class HotReply:
    reply: Reply
    cache_key: str
    size: int
    kept_at: float


@dataclass(slots=True)
class HotReplies:
    """The replies that an isolate keeps in memory for all its requests; the oldest make room for new ones."""

    clock: Clock
    _replies: dict[RequestKey, HotReply] = field(default_factory=dict)
    _bytes: int = 0

    def find(self, key: RequestKey) -> Reply | None:
        known = self._replies.get(key)
        if known is None:
            return None
        if known.kept_at <= self.clock.now() < known.kept_at + FRESH_S:
            return known.reply
        self._drop(key)
        return None

    def keep(self, key: RequestKey, cache_key: str, reply: Reply) -> None:
        """Keep a reply that came from the cache of lists, unless it is large."""
        size = len(key[0]) + (len(reply.body) if isinstance(reply.body, bytes) else MAX_REPLY_BYTES + 1)
        if size > MAX_REPLY_BYTES:
            return
        self._drop(key)
        while self._bytes + size > MAX_BYTES:
            self._drop(next(iter(self._replies)))
        self._replies[key] = HotReply(reply, cache_key, size, self.clock.now())
        self._bytes += size

    def forget(self, cache_key: str) -> None:
        """Drop the replies of a list that was stored anew."""
        for key in [key for key, known in self._replies.items() if known.cache_key == cache_key]:
            self._drop(key)

    def _drop(self, key: RequestKey) -> None:
        if known := self._replies.pop(key, None):
            self._bytes -= known.size


def is_small(request: Request) -> bool:
    """Return whether the request says that its body is small enough to be kept as a key."""
    length = request.headers.get("content-length", "")
    return length.isascii() and length.isdigit() and len(length) < 6 and int(length) <= MAX_REQUEST_BYTES


def request_key(headers: Mapping[str, str], body: bytes) -> RequestKey:
    return body, tuple(headers.get(name) for name in _VARIED)
