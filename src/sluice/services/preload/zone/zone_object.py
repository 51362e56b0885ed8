"""The object of one zone: the only writer of its queue. It answers calls, and works when its alarm rings."""

from sluice.core.ports import Alarm, Sql
from sluice.services.preload.zone.background import BackgroundWork
from sluice.services.preload.zone.calls import ZoneCalls, answer_call
from sluice.services.preload.zone.operator_calls import OperatorCalls
from sluice.services.preload.zone.schema import create_tables
from sluice.services.preload.zone.services import Dependencies, ObjectStorage, ZoneServices
from sluice.services.preload.zone.settings import PreloadSettings
from sluice.services.preload.zone.signed_calls import SignedCalls
from sluice.services.preload.zone.state import ZoneState


class ZoneHandlers(SignedCalls, OperatorCalls):
    """The object's side of ZoneCalls."""

    def __init__(self, services: ZoneServices) -> None:
        super().__init__(services)
        self.background = BackgroundWork(services)

    async def settle(self) -> None:
        self.services.require_registered()
        await self.background.settle()

    async def tick(self) -> None:
        await self.background.tick()


class ZoneObject:
    def __init__(self, sql: Sql, alarm: Alarm, outside: Dependencies, settings: PreloadSettings) -> None:
        create_tables(sql)
        self._storage = ObjectStorage(sql, alarm, ZoneState(sql))
        self._outside = outside
        self._settings = settings
        self._handlers: ZoneHandlers | None = None

    def handlers(self, zone_id: str) -> ZoneHandlers:
        """The zone's parts, built once. A call brings the zone's id, because a new object does not know it."""
        if self._handlers is None:
            services = ZoneServices(zone_id, self._storage, self._outside, self._settings)
            self._handlers = ZoneHandlers(services)
            self._handlers.background.recover()
        return self._handlers

    async def call(self, zone_id: str, name: str, arguments: str) -> str:
        """Handles one call that came over RPC, in the encoding of `zone.calls`."""
        calls: ZoneCalls = self.handlers(zone_id)
        return await answer_call(calls, name, arguments)

    async def handle_alarm(self) -> None:
        """Handles the alarm; a zone that was never registered has nothing to do."""
        zone_id = self._storage.state.get("zone_id")
        if zone_id is not None:
            await self.handlers(str(zone_id)).background.handle_alarm()
