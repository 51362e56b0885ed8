"""Whether warming reaches the origin: one request by hand for the site's first page, sent as pages are warmed, from the alarm."""

from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import Looped, SluiceError
from sluice.core.ports import Clock
from sluice.core.preload.rate_limits import Limits
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.warming.origin import MAX_PAGE_BYTES, TIMEOUT_S, Origin, page_headers
from sluice.services.preload.zone.state import ZoneState

CUT_OFF: Final = "the check was cut off: ask for it again"
MAX_DURATION_S: Final = 2 * TIMEOUT_S


@dataclass(frozen=True, slots=True)
class OriginCheck:
    origin: Origin
    state: ZoneState
    clock: Clock

    def describe(self) -> dict[str, Any] | None:
        """The latest check; None when there was none since the configuration changed."""
        check = self._load()
        if check is None or check["state"] != "begun":
            return check
        is_over = self.clock.now() - check["at"] > MAX_DURATION_S
        return check | ({"state": "failed", "detail": CUT_OFF} if is_over else {"state": "pending"})

    def want(self) -> None:
        """Has the next alarm carry out the check."""
        self._store("pending")

    async def run(self, config: ZoneConfig) -> None:
        """Carries out the check. Its beginning is stored first, so that one that takes the Worker down is not repeated."""
        grant_id = await self.origin.wait_for_grant(Limits.from_config(config))
        self._store("begun")
        try:
            response = await self.origin.fetch_granted(
                f"{config.site_url}/", config, grant_id=grant_id, headers=page_headers(""), max_bytes=MAX_PAGE_BYTES
            )
        except Looped as error:
            self._store("looped", detail=str(error))
        except SluiceError as error:
            self._store("failed", detail=str(error))
        else:
            self._store("reached", status=response.status)

    def _load(self) -> dict[str, Any] | None:
        check: dict[str, Any] | None = self.state.get("origin_check")
        return check

    def _store(self, state: str, *, status: int | None = None, detail: str = "") -> None:
        self.state.put(origin_check={"state": state, "status": status, "detail": detail, "at": self.clock.now()})
