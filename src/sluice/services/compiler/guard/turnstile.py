"""Turnstile: proof that a person makes the request, checked if the operator has set a secret."""

import re
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import urlencode

from sluice.core.errors import Forbidden, SluiceError
from sluice.core.json_text import JsonObject, JsonValue, parse_json
from sluice.core.ports import Fetch, Log

FIELD: Final = "turnstileToken"
VERIFY_URL: Final = "https://challenges.cloudflare.com/turnstile/v0/siteverify"
MAX_TOKEN_CHARS: Final = 2048  # as documented by Cloudflare
TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 16 * 1024
_FORM: Final = (("Content-Type", "application/x-www-form-urlencoded"),)
_CODE: Final = re.compile(r"[a-z0-9-]{1,64}")
_MAX_CODES: Final = 5
# These codes are about the operator's secret; the caller can do nothing about them.
_SECRET_CODES: Final = frozenset({"missing-input-secret", "invalid-input-secret"})


class TokenCheck(Protocol):
    @property
    def is_enabled(self) -> bool: ...

    async def check(self, token: JsonValue, address: str | None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnstile:
    """Verifies tokens; with an empty secret every request passes."""

    secret: str = field(repr=False)
    fetch: Fetch
    log: Log
    verify_url: str = VERIFY_URL

    @property
    def is_enabled(self) -> bool:
        return bool(self.secret)

    async def check(self, token: JsonValue, address: str | None) -> None:
        """Raise Forbidden for a bad token, and also if the verifier cannot be reached, since nothing is proven then."""
        if not self.is_enabled:
            return
        verdict = await self._verify(_require_token(token), address)
        if verdict.get("success") is not True:
            raise Forbidden(self._explain_refusal(verdict.get("error-codes")))

    async def _verify(self, token: str, address: str | None) -> JsonObject:
        form = {"secret": self.secret, "response": token} | ({"remoteip": address} if address else {})
        try:
            response = await self.fetch(
                self.verify_url,
                method="POST",
                headers=_FORM,
                body=urlencode(form).encode(),
                max_bytes=MAX_ANSWER_BYTES,
                timeout_s=TIMEOUT_S,
            )
            value = parse_json(response.body)
        except SluiceError as error:
            self.log.event("turnstile.unreachable", reason=str(error))
            raise Forbidden("Turnstile cannot be reached to verify your token; try again in a moment") from None
        return value if isinstance(value, dict) else {}

    def _explain_refusal(self, error_codes: JsonValue) -> str:
        texts = [code for code in error_codes if isinstance(code, str)] if isinstance(error_codes, list) else []
        codes = [code for code in texts[:_MAX_CODES] if _CODE.fullmatch(code)]
        if _SECRET_CODES.intersection(codes):
            self.log.event("turnstile.misconfigured", reason="the verifier does not accept TURNSTILE_SECRET_KEY")
            return "Turnstile verification is not set up correctly here; tell the operator"
        reasons = f" ({', '.join(codes)})" if codes else ""
        return f"Turnstile verification failed{reasons}; solve the challenge again and send its token as {FIELD}"


@dataclass(frozen=True, slots=True)
class NoTurnstile:
    """Verifies nothing, for requests that need no proof."""

    is_enabled: bool = False

    async def check(self, token: JsonValue, address: str | None) -> None:
        """Let every request pass."""


NO_TURNSTILE: Final = NoTurnstile()


def _require_token(token: JsonValue) -> str:
    if token is None or token == "":
        raise Forbidden(f"a Turnstile token is required: send it as {FIELD}")
    if not isinstance(token, str) or len(token) > MAX_TOKEN_CHARS:
        raise Forbidden(f"{FIELD} is not a Turnstile token: a text of at most {MAX_TOKEN_CHARS} characters")
    return token
