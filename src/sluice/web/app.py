"""The HTTP side of a Worker: every request gets a reply."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sluice.core.errors import NotFound, SluiceError
from sluice.web.cors import Cors, is_preflight
from sluice.web.messages import Passthrough, Reply, Request
from sluice.web.problems import build_error_reply, build_internal_error_reply, build_problem
from sluice.web.router import Resource, Route, Router, split_path

_PRIVATE: Final = "private, no-store"

OnError = Callable[[Exception, Request], None]


class App:
    """Routes requests and turns every error into a problem reply, a page for browsers; `on_error` receives the unexpected ones."""

    def __init__(self, routes: Iterable[Route], *, on_error: OnError, cors: Cors | None = None) -> None:
        self._router = Router(routes)
        home = self._router.resolve(())
        self._has_home = home is not None and home.route_for("GET") is not None
        self._on_error = on_error
        self._cors = cors

    async def handle(self, request: Request) -> Reply:
        """Return the reply to a request; this method raises no Exception."""
        try:
            return self._finish_reply(await self._route_request(request), request)
        except SluiceError as error:
            reply = build_error_reply(error, instance=request.path)
        except Exception as error:  # noqa: BLE001 - a defect becomes a plain 500 here
            self._report_error(error, request)
            reply = build_internal_error_reply(instance=request.path)
        return self._finish_reply(reply, request)

    async def _route_request(self, request: Request) -> Reply:
        segments = split_path(request.path)
        resource = self._router.resolve(segments)
        if resource is None:
            raise NotFound(f"nothing is served at {request.path}")
        if route := resource.route_for(request.method):
            params = route.params(segments)
            return await route.handler(request.with_params(params) if params else request)
        if request.method == "OPTIONS":
            return self._reply_to_options(resource, request)
        return _method_not_allowed(resource, request)

    def _reply_to_options(self, resource: Resource, request: Request) -> Reply:
        reply = Reply.empty(headers={"Allow": ", ".join(resource.allowed_methods)})
        if self._cors and is_preflight(request):
            return self._cors.preflight(reply, request, resource.allowed_methods)
        return reply

    def _report_error(self, error: Exception, request: Request) -> None:
        # The caller gets the reply even if the log fails.
        with suppress(Exception):
            self._on_error(error, request)

    def _finish_reply(self, reply: Reply, request: Request) -> Reply:
        if reply.status >= 400:
            from sluice.web.problem_pages import negotiate_problem  # noqa: PLC0415 - rare

            reply = negotiate_problem(reply, request, has_home=self._has_home)
        reply = _with_length(forbid_caching(reply).with_header("X-Content-Type-Options", "nosniff"))
        if self._cors:
            reply = self._cors.apply(reply, request)
        return _without_body(reply) if request.method == "HEAD" else reply


def forbid_caching(reply: Reply) -> Reply:
    """Return a reply that its handler did not share as one that no cache may keep."""
    return reply if reply.header("Cache-Tag") else reply.with_header("Cache-Control", _PRIVATE)


def _method_not_allowed(resource: Resource, request: Request) -> Reply:
    allowed = ", ".join(resource.allowed_methods)
    return build_problem(
        405,
        "Method not allowed",
        f"{request.method} is not allowed here; allowed: {allowed}",
        instance=request.path,
        headers={"Allow": allowed},
    )


def _without_body(reply: Reply) -> Reply:
    # A passed-through response also carries the headers, so it stays. The runtime sends no body for HEAD.
    return reply if isinstance(reply.body, Passthrough) else replace(reply, body=None)


def _with_length(reply: Reply) -> Reply:
    return reply.with_header("Content-Length", str(len(reply.body))) if isinstance(reply.body, bytes) else reply
