"""Who may use the operator's API: whoever has the token, while wrong tokens get slower and slower replies."""

from dataclasses import dataclass

from sluice.core.errors import NotReady, Unauthorized
from sluice.core.ports import Clock
from sluice.services.preload.serving.isolate_memory import WrongTokens
from sluice.web import Request
from sluice.web.admin import require_admin


@dataclass(frozen=True, slots=True)
class OperatorGate:
    token: str
    problem: str | None  # why the token counts as not set
    clock: Clock
    wrong_tokens: WrongTokens

    async def admit(self, request: Request) -> None:
        """Raise Unauthorized without the right token, and NotReady while none can be right."""
        if self.problem is not None:
            raise NotReady(f"ADMIN_TOKEN {self.problem}")
        try:
            require_admin(request, self.token)
        except Unauthorized:
            if "authorization" in request.headers:
                await self.clock.sleep(self.wrong_tokens.add(self.clock.now()))
            raise
