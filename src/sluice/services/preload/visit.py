"""One visit of a zone's host, put together: what a hit does not need is made for a miss alone."""

from functools import cached_property
from typing import TYPE_CHECKING

from sluice.services.preload.discovery.page_index import PageIndex
from sluice.services.preload.ports import SendToOrigin
from sluice.services.preload.serving.copy_refresh import Refresher
from sluice.services.preload.serving.copy_store import CopyStore
from sluice.services.preload.serving.host_directory import Zone
from sluice.services.preload.serving.misses import MissServer
from sluice.services.preload.serving.observing import Observer
from sluice.services.preload.serving.origin_requests import OriginRequests, ZoneKeys
from sluice.services.preload.serving.page_server import PageServer
from sluice.services.preload.serving.warming_loopback import WarmingLoopback
from sluice.services.preload.zone.zone_object import ZoneCalls

if TYPE_CHECKING:
    from sluice.services.preload.service import PreloadService


class PreloadVisit:
    """The parts that serve one visitor; `service` has those that all visitors share."""

    def __init__(self, service: "PreloadService", zone: Zone, send: SendToOrigin) -> None:
        self._service = service
        self._ports = service.ports
        self._memory = service.remembered.visits
        self._zone = zone
        self._send = send

    @cached_property
    def page_server(self) -> PageServer:
        return PageServer(
            config=self._zone.config,
            copies=self.copies,
            clock=self._ports.clock,
            bodies=self._ports.bodies,
            make_origin=lambda: self.origin,
            make_refresher=lambda: self.refresher,
            make_misses=lambda: self.misses,
            make_observer=lambda: self.observer,
            make_zone=lambda: self.zone_calls,
            make_warming_loopback=lambda: self.warming_loopback,
            defer=self._ports.defer,
            log=self._ports.log,
            memory=self._memory,
        )

    @cached_property
    def copies(self) -> CopyStore:
        service, ports, zone_id = self._service, self._ports, self._zone.zone_id
        index, reader = PageIndex(ports.database, zone_id), service.purge_reader(zone_id)
        return CopyStore(
            *(zone_id, ports.bucket, service.edge, index, ports.clock, reader),
            report_unreadable=lambda page: self.origin.report_unreadable(page.url, page.variant),
        )

    @cached_property
    def zone_calls(self) -> ZoneCalls:
        return self._service.zones.get(self._zone.zone_id)

    @cached_property
    def keys(self) -> ZoneKeys:
        return ZoneKeys(
            zone_id=self._zone.zone_id,
            zone=self.zone_calls,
            clock=self._ports.clock,
            log=self._ports.log,
            memory=self._memory,
        )

    @cached_property
    def warming_loopback(self) -> WarmingLoopback:
        return WarmingLoopback(self.keys, self._ports.clock, self._send)

    @cached_property
    def origin(self) -> OriginRequests:
        return OriginRequests(
            config=self._zone.config,
            clock=self._ports.clock,
            send=self._send,
            zone=self.zone_calls,
            keys=self.keys,
            defer=self._ports.defer,
            log=self._ports.log,
            memory=self._memory,
        )

    @cached_property
    def refresher(self) -> Refresher:
        return Refresher(
            config=self._zone.config,
            copies=self.copies,
            clock=self._ports.clock,
            fetch=self._service.fetch,
            log=self._ports.log,
            memory=self._memory,
            zone=self.zone_calls,
            origin=self.origin,
        )

    @cached_property
    def misses(self) -> MissServer:
        return MissServer(
            config=self._zone.config,
            copies=self.copies,
            clock=self._ports.clock,
            origin=self.origin,
            bodies=self._ports.bodies,
            defer=self._ports.defer,
            log=self._ports.log,
            memory=self._memory,
        )

    @cached_property
    def observer(self) -> Observer:
        return Observer(
            config=self._zone.config,
            clock=self._ports.clock,
            origin=self.origin,
            bodies=self._ports.bodies,
            zone=self.zone_calls,
            defer=self._ports.defer,
            log=self._ports.log,
            memory=self._memory,
        )
