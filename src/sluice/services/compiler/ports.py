"""The ports of this service, each as narrow as its use; the adapters of the platform fit them."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

from sluice.web import Request

Backoff = Literal["constant", "linear", "exponential"]


class Analytics(Protocol):
    """Data points for dashboards; a point that cannot be written is dropped."""

    def write(self, event: str, *, blobs: Sequence[str] = (), doubles: Sequence[float] = ()) -> None: ...


class Steps(Protocol):
    """The steps of a workflow instance; the engine stores the result of each."""

    async def do(
        self,
        name: str,
        work: Callable[[], Awaitable[Any]],
        *,
        retries: int,
        delay_s: float,
        backoff: Backoff,
        timeout_s: float,
    ) -> Any: ...

    async def sleep(self, name: str, seconds: float) -> None: ...


class InstanceStatus(Protocol):
    """The status of a workflow instance."""

    @property
    def state(self) -> str: ...

    @property
    def output(self) -> Any: ...

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
    """The same, for requests for many lists."""

    async def charge_sources(self, request: Request, sources: int) -> None:
        """Charges what such a request costs beyond one request: one for each ten sources begun."""
