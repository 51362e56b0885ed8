"""What stands before everything that costs a compilation: the rate limit, then the body, then Turnstile."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from sluice.core.errors import BadField, Invalid, TooManyRequests
from sluice.services.compiler.guard.rate_limit import client_of
from sluice.services.compiler.guard.turnstile import FIELD, Check
from sluice.services.compiler.ports import Analytics
from sluice.web import Request, read_bytes, read_json

MAX_NUMBER: Final = 2**53 - 2


class Limiter(Protocol):
    async def charge(self, client: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Charges first, so that guessing tokens and sending junk are limited too.

    `pepper` goes into the hash by which a client is named in data points: there are few enough IPv4 addresses to try all.
    """

    limiter: Limiter
    turnstile: Check
    analytics: Analytics
    pepper: str = ""

    async def __call__(self, request: Request, *, max_bytes: int, optional_body: bool = False) -> Any:
        """The JSON body of a request that may pass, without its token; {} for an empty one where that is allowed."""
        await self._charge(request)
        value = await (_optional_json if optional_body else read_json)(request, max_bytes=max_bytes)
        return await self._proven(request, value)

    async def message(self, request: Request, value: Any) -> Any:
        """The same for a message that came over the socket opened by the request."""
        await self._charge(request)
        return await self._proven(request, value)

    async def _charge(self, request: Request) -> None:
        client = client_of(request.client_ip)
        try:
            await self.limiter.charge(client)
        except TooManyRequests as error:
            self.analytics.write(
                "rate_limit_exceeded",
                blobs=(hashed(client, self.pepper), request.path[:200]),
                doubles=(error.retry_after_s,),
            )
            raise

    async def _proven(self, request: Request, value: Any) -> Any:
        check_numbers(value)
        if not isinstance(value, Mapping):
            await self.turnstile.check(None, request.client_ip)
            return value
        await self.turnstile.check(value.get(FIELD), request.client_ip)
        return {name: member for name, member in value.items() if name != FIELD}


def hashed(client: str, pepper: str) -> str:
    """A client's name that does not tell the address."""
    return hmac.new(pepper.encode(), client.encode(), hashlib.sha256).hexdigest()[:32]


def check_numbers(value: Any) -> None:
    """Refuse whole numbers that queues and workflows cannot carry: to JavaScript they are not numbers any more."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, found = waiting.pop()
        if isinstance(found, dict):
            waiting.extend((f"{path}.{name}" if path else name, member) for name, member in found.items())
        elif isinstance(found, list):
            waiting.extend((f"{path}[{at}]", member) for at, member in enumerate(found))
        elif isinstance(found, int) and abs(found) > MAX_NUMBER:
            reason = f"is a number beyond ±{MAX_NUMBER}"
            raise Invalid(f"{path} {reason}".strip(), [BadField(path, reason)])


async def _optional_json(request: Request, *, max_bytes: int) -> Any:
    content = await read_bytes(request, max_bytes=max_bytes)
    if not content.strip():
        return {}

    async def again(_max_bytes: int) -> bytes:
        return content

    return await read_json(replace(request, read_body=again), max_bytes=max_bytes)
