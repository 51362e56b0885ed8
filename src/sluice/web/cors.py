"""Cross-origin access: which other sites may read the replies."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.core.headers import check_header
from sluice.web.messages import Reply, Request

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/,*]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cors:
    """Allowed origins, compared exactly, or `("*",)` for all; credentials are never allowed."""

    origins: tuple[str, ...]
    allow_headers: tuple[str, ...] = ("Authorization", "Content-Type")
    expose_headers: tuple[str, ...] = ()
    max_age_s: int = 7200  # the longest that Chromium keeps a preflight

    def __post_init__(self) -> None:
        if self.origins != ("*",) and not all(_ORIGIN.fullmatch(origin) for origin in self.origins):
            raise ValueError(f"origins are scheme://host[:port], or * alone: {self.origins}")
        for name in (*self.allow_headers, *self.expose_headers):
            check_header(name, "")

    def apply(self, reply: Reply, request: Request) -> Reply:
        """Return the reply with the headers that allow the page to read it."""
        # Either way the reply is right for every origin, because a cache may serve it to another one.
        if self.origins != ("*",):
            reply = reply.with_vary("Origin")
        if (origin := self._allowed_origin(request)) is None:
            return reply
        reply = reply.with_header("Access-Control-Allow-Origin", origin)
        if self.expose_headers and not is_preflight(request):
            reply = reply.with_header("Access-Control-Expose-Headers", ", ".join(self.expose_headers))
        return reply

    def preflight(self, reply: Reply, request: Request, methods: Sequence[str]) -> Reply:
        """Return the reply to a preflight with what an allowed page may send."""
        if self._allowed_origin(request) is None:
            return reply
        return (
            reply.with_header("Access-Control-Allow-Methods", ", ".join(methods))
            .with_header("Access-Control-Allow-Headers", ", ".join(self.allow_headers))
            .with_header("Access-Control-Max-Age", str(self.max_age_s))
        )

    def _allowed_origin(self, request: Request) -> str | None:
        if self.origins == ("*",):
            return "*"
        origin = request.headers.get("origin")
        return origin if origin in self.origins else None


def is_preflight(request: Request) -> bool:
    """Return whether the request is a CORS preflight."""
    return (
        request.method == "OPTIONS"
        and "origin" in request.headers
        and "access-control-request-method" in request.headers
    )
