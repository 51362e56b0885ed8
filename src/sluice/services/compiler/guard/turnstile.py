"""Turnstile: proof that a person asks, checked where the operator has set a secret."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import urlencode

from sluice.core.errors import Forbidden, SluiceError
from sluice.core.ports import Fetch, Log
from sluice.core.strict_json import parse_json

FIELD: Final = "turnstileToken"
VERIFY_URL: Final = "https://challenges.cloudflare.com/turnstile/v0/siteverify"
MAX_TOKEN_CHARS: Final = 2048  # as documented by Cloudflare
TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 16 * 1024
_FORM: Final = (("Content-Type", "application/x-www-form-urlencoded"),)
_CODE: Final = re.compile(r"[a-z0-9-]{1,64}")
_MAX_CODES: Final = 5
# These speak of the operator's secret: nothing that a caller could put right.
_OURS: Final = frozenset({"missing-input-secret", "invalid-input-secret"})


class Check(Protocol):
    async def check(self, token: object, address: str | None) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnstile:
    """Asks the verifier about tokens; with an empty secret every request passes."""

    secret: str = field(repr=False)
    fetch: Fetch
    log: Log
    verify_url: str = VERIFY_URL

    @property
    def enabled(self) -> bool:
        return bool(self.secret)

    async def check(self, token: object, address: str | None) -> None:
        """Pass, or raise Forbidden: also when the verifier cannot be asked, since nothing is proven then."""
        if not self.enabled:
            return
        answer = await self._asked(_checked(token), address)
        if answer.get("success") is not True:
            raise Forbidden(self._refusal(answer.get("error-codes")))

    async def _asked(self, token: str, address: str | None) -> Mapping[str, Any]:
        form = {"secret": self.secret, "response": token} | ({"remoteip": address} if address else {})
        try:
            answer = await self.fetch(
                self.verify_url,
                method="POST",
                headers=_FORM,
                body=urlencode(form).encode(),
                max_bytes=MAX_ANSWER_BYTES,
                timeout_s=TIMEOUT_S,
            )
            value = parse_json(answer.body)
        except SluiceError as error:
            self.log.event("turnstile.unreachable", reason=str(error))
            raise Forbidden("Turnstile could not be asked whether you are a person; try again in a moment") from None
        return value if isinstance(value, dict) else {}

    def _refusal(self, given: object) -> str:
        codes = [code for code in given if isinstance(code, str)] if isinstance(given, list) else []
        told = [code for code in codes[:_MAX_CODES] if _CODE.fullmatch(code)]
        if _OURS.intersection(told):
            self.log.event("turnstile.misconfigured", reason="the verifier does not accept TURNSTILE_SECRET_KEY")
            return "Turnstile verification is not set up correctly here; tell the operator"
        reasons = f" ({', '.join(told)})" if told else ""
        return f"Turnstile verification failed{reasons}; solve the challenge again and send its token as {FIELD}"


def _checked(token: object) -> str:
    if token is None or token == "":
        raise Forbidden(f"a Turnstile token is required: send it as {FIELD}")
    if not isinstance(token, str) or len(token) > MAX_TOKEN_CHARS:
        raise Forbidden(f"{FIELD} is not a Turnstile token: a text of at most {MAX_TOKEN_CHARS} characters")
    return token
