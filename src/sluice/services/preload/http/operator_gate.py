"""Who may use the operator's API: whoever has the token, while wrong tokens get slower and slower replies."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.errors import NotReady, Unauthorized
from sluice.core.ports import Clock
from sluice.web import Request
from sluice.web.admin import require_admin

WINDOW_S: Final = 60.0
FIRST_DELAY_S: Final = 0.05
MAX_DELAY_S: Final = 5.0
MAX_COUNTED: Final = 100


@dataclass(slots=True)
class WrongTokens:
    """When one isolate got wrong tokens, the latest last."""

    times: list[float] = field(default_factory=list)

    def add(self, now: float) -> float:
        """Counts one more; returns the seconds by which its reply is held back: twice as long for each in the last minute."""
        self.times = [*(time for time in self.times if time > now - WINDOW_S), now][-MAX_COUNTED:]
        return float(min(MAX_DELAY_S, FIRST_DELAY_S * 2.0 ** (len(self.times) - 1)))


@dataclass(frozen=True, slots=True)
class OperatorGate:
    token: str
    problem: str | None  # why the token counts as not set
    clock: Clock
    wrong_tokens: WrongTokens

    async def admit(self, request: Request) -> None:
        """Raises Unauthorized without the right token, and NotReady while none can be right."""
        if self.problem is not None:
            raise NotReady(f"ADMIN_TOKEN {self.problem}")
        try:
            require_admin(request, self.token)
        except Unauthorized:
            if "authorization" in request.headers:
                await self.clock.sleep(self.wrong_tokens.add(self.clock.now()))
            raise
