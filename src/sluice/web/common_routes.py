"""What every Worker serves: its health, its API document, and its page with the files that the page loads."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, NotRequired, Protocol, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import NotFound
from sluice.core.variables import CHOSEN_SECRETS, Variables
from sluice.web.caching import CachePolicy, share_reply
from sluice.web.conditional import ETag, apply_conditions
from sluice.web.messages import Reply, Request
from sluice.web.operations import SERVICE, Media, Operation, ReplyDoc, describe
from sluice.web.parameters import PathParameter
from sluice.web.router import Handler, Route


class BindingHealth(TypedDict):
    kind: Annotated[str, Doc("The type of the binding: kv, d1, r2, queue and so on.")]
    ok: bool
    error: NotRequired[Annotated[str, Doc("Why the binding does not answer.")]]
    detail: NotRequired[str]


class Health(TypedDict):
    name: str
    version: str
    status: Literal["ok", "degraded"]
    bindings: dict[str, BindingHealth]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of checking one binding; `kind` is its type (`kv`, `d1`, `queue`)."""

    kind: str
    ok: bool
    error: str | None = None
    detail: str | None = None

    def as_json(self) -> BindingHealth:
        """Return the members of the reply that have a value."""
        health: BindingHealth = {"kind": self.kind, "ok": self.ok}
        if self.error is not None:
            health["error"] = self.error
        if self.detail is not None:
            health["detail"] = self.detail
        return health


CheckBindings = Callable[[], Awaitable[Mapping[str, Check]]]
# Returns the handler behind a limit for each client.
LimitReads = Callable[[Handler], Handler]
# Reads the document that was built for the Worker.
ReadDocument = Callable[[], Awaitable[bytes]]

_DOCUMENT: Final = CachePolicy(max_age_s=60, tags=("document",))
_SHOW_HEALTH: Final = Operation(
    "showHealth",
    "Whether every binding answers",
    {
        200: ReplyDoc("All bindings answer.", Health),
        503: ReplyDoc("A binding does not answer; the reply says which one and why.", Health),
    },
    tag=SERVICE,
    problems=(429,),
)
_SHOW_DOCUMENT: Final = Operation(
    "showApiDocument",
    "This document",
    {
        200: ReplyDoc("The OpenAPI 3.1 document.", Media("application/json"), {"ETag": "The version of the document."}),
        304: ReplyDoc("The copy named in If-None-Match is current."),
    },
    tag=SERVICE,
    problems=(412,),
)
# A page and its scripts change together, with the next deployment; a browser keeps them for a minute only.
_FILE: Final = CachePolicy(max_age_s=60, tags=("file",))
_FOLDER: Final = PathParameter("folder", str, {"type": "string", "minLength": 1}, "Its folder.", "ui")
_FILE_REPLY: Final = {200: ReplyDoc("The file.", Media("*/*"))}


def add_common_routes(
    routes: Sequence[Route],
    *,
    name: str,
    version: str,
    check_bindings: CheckBindings,
    read_document: ReadDocument,
    limit_reads: LimitReads,
) -> list[Route]:
    """Return GET /health, GET /openapi.json, and the routes of the Worker behind them."""

    async def show_health(_request: Request) -> Reply:
        return build_health_reply(name, version, await check_bindings())

    @describe(_SHOW_DOCUMENT)
    async def show_document(request: Request) -> Reply:
        return apply_conditions(request, build_document_reply(await read_document()))

    return [
        Route("GET", "/health", describe(_SHOW_HEALTH)(limit_reads(show_health))),
        Route("GET", "/openapi.json", show_document),
        *routes,
    ]


def build_document_reply(document: bytes) -> Reply:
    """Return the document with its ETag; it changes only with the Worker, whose versions share no copies."""
    headers = (("Content-Type", "application/json"), ("ETag", str(ETag.of(document))))
    return share_reply(Reply(200, headers, document), _DOCUMENT)


def build_health_reply(name: str, version: str, checks: Mapping[str, Check]) -> Reply:
    """Return 200 if every check is ok, else 503 with the same body."""
    is_ok = all(check.ok for check in checks.values())
    body: Health = {
        "name": name,
        "version": version,
        "status": "ok" if is_ok else "degraded",
        "bindings": {binding: check.as_json() for binding, check in checks.items()},
    }
    return Reply.json(body, 200 if is_ok else 503)


def check_secrets(variables: Variables) -> dict[str, Check]:
    """Return the secrets that are too short to be used, for /health."""
    problems = {name: variables.secret(name).problem for name in CHOSEN_SECRETS}
    return {name: Check("secret", ok=False, error=problem) for name, problem in problems.items() if problem}


class Files(Protocol):
    """The deployed files, by their paths."""

    async def fetch(self, path: str) -> Reply | None:
        """Return the file as the platform serves it, or None if there is none."""

    async def read(self, path: str) -> bytes:
        """Return the content of a file; raise NotFound if it was not built."""


def serve_page(files: Files, name: str, summary: str) -> Handler:
    """Return a handler that replies with the page of this name."""
    replies = {200: ReplyDoc("The page.", Media("text/html"))}

    @describe(Operation("showPage", summary, replies, tag=SERVICE))
    async def show_page(_request: Request) -> Reply:
        reply = await files.fetch(f"/{name}")
        if reply is None:
            raise NotFound(f"the page {name} was not deployed")
        return share_reply(reply, _FILE)

    return show_page


def serve_file(files: Files) -> Handler:
    """Return a handler that replies with the file at the request's path; for a Worker that runs before its assets."""
    summary, path = "A file of the pages", (_describe_file("style.css"),)

    @describe(Operation("readFile", summary, _FILE_REPLY, tag=SERVICE, path=path, problems=(404,)))
    async def read_file(request: Request) -> Reply:
        return await _read_at(files, request)

    return read_file


def serve_folder(files: Files) -> Handler:
    """Return a handler that replies with the file at the request's path in a folder."""
    summary, path = "A file of the pages, in a folder", (_FOLDER, _describe_file("api.js"))

    @describe(Operation("readFileInFolder", summary, _FILE_REPLY, tag=SERVICE, path=path, problems=(404,)))
    async def read_file(request: Request) -> Reply:
        return await _read_at(files, request)

    return read_file


async def _read_at(files: Files, request: Request) -> Reply:
    reply = await files.fetch(request.path)
    if reply is None:
        raise NotFound(f"nothing is served at {request.path}")
    return share_reply(reply, _FILE)


def _describe_file(example: str) -> PathParameter[str]:
    return PathParameter("file", str, {"type": "string", "minLength": 1}, "Its name.", example)
