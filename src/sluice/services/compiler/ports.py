"""The ports of this service, each as narrow as its use; the adapters of the platform fit them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from sluice.core.net.transport import Transport
from sluice.core.ports import Alarm, Bucket, Clock, Database, Draw, InstanceState, Kv, Log, NewId, Sql
from sluice.core.remote import Send
from sluice.core.variables import Variables
from sluice.web import Request
from sluice.web.common_routes import Files

if TYPE_CHECKING:
    from sluice.services.compiler.guard.rate_limit import Background
    from sluice.services.compiler.http.list_addresses import Discard, Inflate
    from sluice.services.compiler.jobs.queue_handler import QueueSender
    from sluice.services.compiler.live.socket_api import AcceptSocket
    from sluice.services.compiler.published.builds.publisher import Purge
    from sluice.services.compiler.requests import Priority

Result = TypeVar("Result")

Backoff = Literal["constant", "linear", "exponential"]
# Returns what carries calls to the object with a name.
SendTo = Callable[[str], Send]


class Analytics(Protocol):
    """Data points for dashboards; a point that cannot be written is dropped."""

    def write(self, event: str, *, blobs: Sequence[str] = (), doubles: Sequence[float] = ()) -> None: ...


class Steps(Protocol):
    """The steps of a workflow instance; the engine stores the result of each."""

    async def do(
        self,
        name: str,
        work: Callable[[], Awaitable[Result]],
        *,
        retries: int,
        delay_s: float,
        backoff: Backoff,
        timeout_s: float,
    ) -> Result: ...

    async def sleep(self, name: str, seconds: float) -> None: ...


class InstanceStatus(Protocol):
    """The status of a workflow instance."""

    @property
    def state(self) -> InstanceState: ...

    @property
    def output(self) -> dict[str, Any] | None: ...

    @property
    def error(self) -> str | None: ...


class Instances(Protocol):
    """The instances of one workflow."""

    async def create(self, instance_id: str, params: object) -> None: ...
    async def status(self, instance_id: str) -> InstanceStatus: ...


class ReadGuardedBody(Protocol):
    """Returns the JSON body of a request that passed the rate limit and Turnstile."""

    async def __call__(self, request: Request, *, max_bytes: int, optional_body: bool = False) -> Any: ...


class CountingGuard(ReadGuardedBody, Protocol):
    """Returns the body of a request for many lists that passed the rate limit and Turnstile, and charges for each list."""

    async def charge_sources(self, request: Request, sources: int) -> None:
        """Charge what such a request costs beyond one request: one for each ten sources begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerPorts:
    """The ports of the service. `send_to_...` carry calls to Durable Objects, and `open_...` are called when a port is needed first."""

    variables: Variables
    database: Database
    bucket: Bucket
    compilation_cache: Kv
    metrics: Kv
    rate_limit: Kv
    analytics: Analytics
    files: Files
    send_to_compilation: SendTo
    send_to_rate_limit: SendTo
    send_to_sweeper: SendTo
    open_queue: Callable[[Priority], QueueSender]
    open_instances: Callable[[str], Instances]
    open_socket: AcceptSocket
    purge: Purge
    load_lists_file: Callable[[], str]
    inflate: Inflate
    discard: Discard
    transport: Transport
    background: Background
    clock: Clock
    draw: Draw
    new_id: NewId
    log: Log


@dataclass(frozen=True, slots=True)
class ObjectPorts:
    """The object's own storage; `erase` deletes all of it."""

    sql: Sql
    alarm: Alarm
    erase: Callable[[], Coroutine[Any, Any, None]]
