"""What a route is for, what it takes and what it replies, declared at its handler.

A Worker never reads it: the API document is made of it before a deployment. A reply is JSON of a TypedDict or of a pydantic model,
which stands beside the code that builds it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeVar

from sluice.core.errors import NotFound
from sluice.web.messages import Reply, Request
from sluice.web.parameters import PathParameter, Query, QueryValues, Schema
from sluice.web.router import Handler, Route

Described = TypeVar("Described", bound=Callable[..., Any])
# The operator's bearer token, or the headers of a signed request.
Security = Literal["admin", "signed"]
# The header that makes a request repeatable, and the one of a reply that is the stored one.
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
MAX_KEY_CHARS: Final = 128
REPLAYED: Final = "X-Idempotent-Replayed"
# The tag of the routes that every Worker has; it comes last.
SERVICE: Final = "Service"

_ATTRIBUTE: Final = "operation"
_NO_QUERY: Final = Query()


class Media(NamedTuple):
    """Content other than JSON of a type."""

    type: str
    description: str = ""


Content = type | Media


class ReplyDoc(NamedTuple):
    """One reply that is not a problem: JSON of a type, other media, or a choice of these; empty for no body."""

    description: str
    content: Content | tuple[Content, ...] = ()
    headers: Mapping[str, str] = {}

    @property
    def contents(self) -> tuple[Content, ...]:
        # Media is a tuple itself.
        return (self.content,) if isinstance(self.content, type | Media) else self.content


class Operation(NamedTuple):
    """One operation, under a name that clients in other languages call it by.

    `problems` lists the statuses of problem replies, except those that follow from a body, a query, parameters or
    `security`, whose members are alternatives. `example` is a valid body. `body_extras` are members that the body may have
    beside those of its model, with their schemas: a guard takes them out. `is_repeatable` if it takes an Idempotency-Key.
    """

    name: str
    summary: str
    replies: Mapping[int, ReplyDoc]
    description: str = ""
    tag: str = ""
    path: tuple[PathParameter[Any], ...] = ()
    query: Query | None = None
    body: type | None = None
    body_required: bool = True
    body_extras: Mapping[str, Schema] = {}
    example: Any = None
    problems: tuple[int, ...] = ()
    security: tuple[Security, ...] = ()
    is_repeatable: bool = False

    def read(self, request: Request) -> QueryValues:
        """Return the parameters of the query that it declares; any other is a mistake of the caller."""
        return (self.query or _NO_QUERY).read(request)


def describe(operation: Operation) -> Callable[[Described], Described]:
    """Declare at a handler what it is for."""

    def attach(handler: Described) -> Described:
        setattr(handler, _ATTRIBUTE, operation)
        return handler

    return attach


@dataclass(frozen=True, slots=True)
class LazyHandler:
    """A handler that is looked for when the first request needs it, so that its module is imported then.

    `wrap` returns the handler with something around it, which is described by what the handler declares.
    """

    find: Callable[[], Handler]
    wrap: Callable[[Handler], Handler] | None = None

    async def __call__(self, request: Request) -> Reply:
        handler = self.find()
        return await (self.wrap(handler) if self.wrap else handler)(request)


def find_operation(route: Route) -> Operation:
    """Return what the handler of a route declares; raise NotFound if it declares nothing."""
    handler: Any = route.handler
    while isinstance(handler, LazyHandler):
        handler = handler.find()
    operation = getattr(handler, _ATTRIBUTE, None)
    if not isinstance(operation, Operation):
        raise NotFound(
            f"{route.method} {route.pattern}: its handler does not declare an operation; see web/operations.py"
        )
    return operation
