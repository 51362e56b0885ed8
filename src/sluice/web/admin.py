"""The operator's token, which protects what is not public."""

from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Final

from sluice.core.errors import Forbidden, NotReady, Unauthorized
from sluice.core.ports import Clock
from sluice.core.variables import Secret
from sluice.web.messages import Request

TOKENS_COUNTED_S: Final = 60.0
FIRST_DELAY_S: Final = 0.05  # of the reply to a wrong token
MAX_DELAY_S: Final = 5.0
MAX_TOKENS: Final = 100


@dataclass(slots=True)
class WrongTokens:
    """The times at which one isolate got wrong tokens, the latest last."""

    times: list[float] = field(default_factory=list)

    def add(self, now: float) -> float:
        """Count one more; return the seconds by which its reply is held back: twice as long for each in the last minute."""
        self.times = [*(time for time in self.times if 0 <= now - time < TOKENS_COUNTED_S), now][-MAX_TOKENS:]
        return float(min(MAX_DELAY_S, FIRST_DELAY_S * 2.0 ** (len(self.times) - 1)))


@dataclass(frozen=True, slots=True)
class OperatorGate:
    """Lets in whoever has the token; wrong tokens get slower and slower replies. An isolate has one gate for all its requests."""

    token: Secret
    clock: Clock
    wrong_tokens: WrongTokens = field(default_factory=WrongTokens)

    async def admit(self, request: Request) -> None:
        """Raise Unauthorized without the right token, NotReady while it is too short to be one, and Forbidden while none is set."""
        if self.token.problem:
            raise NotReady(self.token.problem)
        if not self.token.value:
            raise Forbidden("this is disabled: set the variable ADMIN_TOKEN to enable it")
        if self._is_right(request):
            return
        if "authorization" in request.headers:
            await self.clock.sleep(self.wrong_tokens.add(self.clock.now()))
        raise Unauthorized("send the header Authorization: Bearer ADMIN_TOKEN")

    async def recognise(self, request: Request) -> bool:
        """Return whether the request is the operator's; without credentials it is a stranger's, and wrong ones raise."""
        if "authorization" not in request.headers:
            return False
        await self.admit(request)
        return True

    def _is_right(self, request: Request) -> bool:
        scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and compare_digest(credentials.strip().encode(), self.token.value.encode())
