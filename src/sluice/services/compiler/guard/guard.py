"""The checks before every request that costs a compilation: the rate limit, then the body, then Turnstile."""

import hashlib
import hmac
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sluice.core.errors import BadField, Invalid, TooManyRequests
from sluice.core.json_text import JsonValue
from sluice.services.compiler.guard.turnstile import FIELD, MAX_TOKEN_CHARS, TokenCheck
from sluice.services.compiler.limits.allowance import count_charges
from sluice.services.compiler.ports import Analytics
from sluice.web import Request, read_bytes, read_json
from sluice.web.clients import Client, find_client
from sluice.web.parameters import Schema

MAX_NUMBER: Final = 2**53 - 2

# For the API document: why a request is refused, and the member of its body that is not for its handler.
REFUSED: Final = (403, 429)
TOKEN: Final[Mapping[str, Schema]] = {
    FIELD: {
        "type": "string",
        "maxLength": MAX_TOKEN_CHARS,
        "description": "Required if GET /api/turnstile-config says enabled.",
    }
}


class Limiter(Protocol):
    async def charge(self, client: Client, cost: int = 1) -> None: ...
    async def charge_hit(self, client: Client) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Checks a request before it costs a compilation. It charges first, so that guessing tokens and sending invalid bodies are limited too.

    `scope` keeps the counts of another kind of request apart. `pepper` goes into the hash that names a client in data points: without it, all IPv4 addresses could be tried.
    """

    limiter: Limiter
    turnstile: TokenCheck
    analytics: Analytics
    pepper: str = ""
    scope: str = ""

    async def __call__(self, request: Request, *, max_bytes: int, optional_body: bool = False) -> Any:
        """Return the JSON body of an allowed request without its token; {} for an empty body if that is allowed."""
        await self._charge(request)
        value = await (_read_optional_json if optional_body else read_json)(request, max_bytes=max_bytes)
        return await self._check_token(request, value)

    async def check_message(self, request: Request, value: JsonValue) -> JsonValue:
        """Check a message on the WebSocket that the request opened, as `__call__` checks a request."""
        await self._charge(request)
        return await self._check_token(request, value)

    @property
    def checks_tokens(self) -> bool:
        """Whether the body of every request holds a token that must be verified."""
        return self.turnstile.is_enabled

    async def charge_hit(self, request: Request) -> None:
        """Charge a request that is answered from memory."""
        client = find_client(request.client_ip, self.scope)
        await self._report_refusal(request, client, self.limiter.charge_hit(client))

    async def charge(self, request: Request) -> None:
        """Charge a request that has no body."""
        await self._charge(request)

    async def charge_sources(self, request: Request, sources: int) -> None:
        """Charge a request for many lists, which was charged as one, for each further ten sources begun."""
        if (more := count_charges(sources) - 1) > 0:
            await self._charge(request, more)

    async def _charge(self, request: Request, cost: int = 1) -> None:
        client = find_client(request.client_ip, self.scope)
        await self._report_refusal(request, client, self.limiter.charge(client, cost))

    async def _report_refusal(self, request: Request, client: Client, charge: Awaitable[None]) -> None:
        try:
            await charge
        except TooManyRequests as error:
            self.analytics.write(
                "rate_limit_exceeded",
                blobs=(hash_client(client.key, self.pepper), request.path[:200]),
                doubles=(error.retry_after_s,),
            )
            raise

    async def _check_token(self, request: Request, value: JsonValue) -> JsonValue:
        check_numbers(value)
        if not isinstance(value, Mapping):
            await self.turnstile.check(None, request.client_ip)
            return value
        await self.turnstile.check(value.get(FIELD), request.client_ip)
        return {name: member for name, member in value.items() if name != FIELD}


def hash_client(client: str, pepper: str) -> str:
    """Return a name for a client that does not reveal its address."""
    return hmac.new(pepper.encode(), client.encode(), hashlib.sha256).hexdigest()[:32]


def check_numbers(value: JsonValue) -> None:
    """Raise Invalid for integers that JavaScript cannot hold, since queues and workflows cannot carry them."""
    waiting: list[tuple[str, JsonValue]] = [("", value)]
    while waiting:
        field, member = waiting.pop()
        if isinstance(member, dict):
            waiting.extend((f"{field}.{name}" if field else name, inner) for name, inner in member.items())
        elif isinstance(member, list):
            waiting.extend((f"{field}[{at}]", inner) for at, inner in enumerate(member))
        elif isinstance(member, int) and abs(member) > MAX_NUMBER:
            reason = f"is a number beyond ±{MAX_NUMBER}"
            raise Invalid(f"{field} {reason}".strip(), [BadField(field, reason)])


async def _read_optional_json(request: Request, *, max_bytes: int) -> JsonValue:
    content = await read_bytes(request, max_bytes=max_bytes)
    if not content.strip():
        return {}
    value: JsonValue = await read_json(request.with_body(content), max_bytes=max_bytes)
    return value
