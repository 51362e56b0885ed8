"""Whether warming reaches the origin: one request by hand for the site's first page, sent as pages are warmed, from the alarm.

The zone's page asks for it after each change of the configuration, and so does `./scripts/deploy --check` with `ADMIN_TOKEN` set.
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import Looped, SluiceError
from sluice.core.ports import Clock
from sluice.core.preload.members import EpochS
from sluice.core.preload.rate_limits import OriginLimits
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.warming.origin import MAX_PAGE_BYTES, TIMEOUT_S, Origin, page_headers
from sluice.services.preload.zone.state import ZoneState

CUT_OFF: Final = "the check was cut off: ask for it again"
MAX_DURATION_S: Final = 2 * TIMEOUT_S


State = Literal["pending", "reached", "looped", "failed"]


class OriginCheckReply(TypedDict):
    """One request for the site's first page, sent as pages are warmed."""

    state: Annotated[
        State, Doc("looped: it came back to the Worker, so no page can be warmed without an `origin_url`.")
    ]
    status: Annotated[int | None, Doc("The status of the origin's reply.")]
    detail: Annotated[str, Doc("What went wrong, and the way out.")]
    at: EpochS


@dataclass(frozen=True, slots=True)
class OriginCheck:
    origin: Origin
    state: ZoneState
    clock: Clock

    def describe(self) -> OriginCheckReply | None:
        """Return the latest check; None when there was none since the configuration changed."""
        check: OriginCheckReply | None = self.state.get("origin_check")
        if check is None or not self.state.is_origin_check_begun:
            return check
        if self.clock.now() - check["at"] > MAX_DURATION_S:
            return {**check, "state": "failed", "detail": CUT_OFF}
        return {**check, "state": "pending"}

    def request_check(self) -> None:
        """Ask for a check, which the next alarm carries out."""
        self._store("pending")

    async def run(self, config: ZoneConfig) -> None:
        """Carry out the check. Its beginning is stored first, so that one that takes the Worker down is not repeated."""
        grant_id = await self.origin.wait_for_grant(OriginLimits.from_config(config))
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

    def _store(self, state: State | Literal["begun"], *, status: int | None = None, detail: str = "") -> None:
        self.state.put(origin_check={"state": state, "status": status, "detail": detail, "at": self.clock.now()})
