"""One visit of a zone's host, put together: what a hit does not need is made for a miss alone."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from sluice.platform.http.bodies import JsBodies
from sluice.platform.http.proxy import VisitorRequest
from sluice.services.preload.discovery.page_index import PageIndex
from sluice.services.preload.ports import SendToOrigin
from sluice.services.preload.serving.copy_store import CopyStore
from sluice.services.preload.serving.host_directory import Zone
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.serving.misses import MissServer
from sluice.services.preload.serving.observing import Observer
from sluice.services.preload.serving.origin_requests import OriginRequests, ZoneKeys
from sluice.services.preload.serving.own_warming import OwnWarming
from sluice.services.preload.serving.page_server import PageServer
from sluice.services.preload.serving.refreshing import Refresher
from sluice.services.preload.zone.calls import ZoneCalls

if TYPE_CHECKING:
    from sluice.workers.preload import PreloadWorker


class PreloadVisit:
    """The parts that serve one visitor; `worker` has those that all visitors share."""

    def __init__(self, worker: "PreloadWorker", zone: Zone, request: Any, memory: IsolateMemory) -> None:
        self.worker = worker
        self.zone = zone
        self.request = request
        self.memory = memory

    @cached_property
    def page_server(self) -> PageServer:
        return PageServer(
            config=self.zone.config,
            copies=self.copies,
            clock=self.worker.clock,
            bodies=JsBodies(),
            make_origin=lambda: self.origin,
            make_refresher=lambda: self.refresher,
            make_misses=lambda: self.misses,
            make_observer=lambda: self.observer,
            make_zone=lambda: self.zone_calls,
            make_own_warming=lambda: self.own_warming,
            defer=self.worker.ctx.waitUntil,
            log=self.worker.log,
            memory=self.memory,
        )

    @cached_property
    def copies(self) -> CopyStore:
        worker, zone, reader = self.worker, self.zone, self.worker.purge_reader(self.zone)
        index = PageIndex(worker.database, zone.zone_id)
        return CopyStore(zone.zone_id, worker.bucket, worker.hot_edge, index, worker.clock, reader)

    @cached_property
    def zone_calls(self) -> ZoneCalls:
        return self.worker.zones.get(self.zone.zone_id)

    @cached_property
    def send(self) -> SendToOrigin:
        return VisitorRequest(self.request.js_object, lambda: self.worker.allowed_hosts).send

    @cached_property
    def keys(self) -> ZoneKeys:
        return ZoneKeys(
            zone_id=self.zone.zone_id,
            zone=self.zone_calls,
            clock=self.worker.clock,
            log=self.worker.log,
            memory=self.memory,
        )

    @cached_property
    def own_warming(self) -> OwnWarming:
        return OwnWarming(self.keys, self.worker.clock, self.send)

    @cached_property
    def origin(self) -> OriginRequests:
        return OriginRequests(
            config=self.zone.config,
            clock=self.worker.clock,
            send=self.send,
            zone=self.zone_calls,
            keys=self.keys,
            defer=self.worker.ctx.waitUntil,
            log=self.worker.log,
            memory=self.memory,
        )

    @cached_property
    def refresher(self) -> Refresher:
        return Refresher(
            config=self.zone.config,
            copies=self.copies,
            clock=self.worker.clock,
            fetch=self.worker.fetch,
            log=self.worker.log,
            memory=self.memory,
            zone=self.zone_calls,
            origin=self.origin,
        )

    @cached_property
    def misses(self) -> MissServer:
        return MissServer(
            config=self.zone.config,
            copies=self.copies,
            clock=self.worker.clock,
            origin=self.origin,
            bodies=JsBodies(),
            defer=self.worker.ctx.waitUntil,
            log=self.worker.log,
            memory=self.memory,
        )

    @cached_property
    def observer(self) -> Observer:
        return Observer(
            config=self.zone.config,
            clock=self.worker.clock,
            origin=self.origin,
            bodies=JsBodies(),
            zone=self.zone_calls,
            defer=self.worker.ctx.waitUntil,
            log=self.worker.log,
            memory=self.memory,
        )
