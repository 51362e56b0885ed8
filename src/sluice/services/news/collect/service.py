"""worker-news-updater, put together from its ports: collects articles."""

from collections.abc import Sequence
from functools import cached_property

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.feeds.news_source import NewsSource
from sluice.services.news.collect.conditional_feeds import ConditionalFeeds
from sluice.services.news.collect.sources import choose_sources
from sluice.services.news.collect.updater import Updater
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.http.updater import updater_routes
from sluice.services.news.ports import RunPorts
from sluice.services.news.run_lease.lease import RunLeases
from sluice.services.news.run_lease.object_leases import ObjectRunLeases
from sluice.services.news.settings import UpdaterSettings
from sluice.services.news.storage.keys import UPDATER_WRITES
from sluice.services.news.storage.write_domain import WriteDomain
from sluice.web import Cors, Route
from sluice.web.admin import OperatorGate
from sluice.web.clients import ReadLimit


class NewsUpdaterService:
    cors: Cors | None = None

    def __init__(self, ports: RunPorts) -> None:
        self._ports = ports

    @cached_property
    def settings(self) -> UpdaterSettings:
        return UpdaterSettings.read(self._ports.variables)

    @cached_property
    def leases(self) -> RunLeases:
        return ObjectRunLeases(self._ports.lock, self._ports.new_id, self._ports.clock, self.settings.lease_s)

    @cached_property
    def feeds(self) -> ConditionalFeeds:
        fetcher = Fetcher(self._ports.transport, AllowedHosts.parse(self.settings.allow_private_hosts))
        return ConditionalFeeds(fetcher.fetch, self._ports.clock)

    @cached_property
    def sources(self) -> Sequence[NewsSource]:
        return choose_sources(self.settings, self.feeds)

    @cached_property
    def updater(self) -> Updater:
        ports = self._ports
        return Updater(
            kv=WriteDomain(ports.articles, UPDATER_WRITES),
            leases=self.leases,
            sources=self.sources,
            feeds=self.feeds,
            state=ports.state,
            clock=ports.clock,
            log=ports.log,
            settings=self.settings,
        )

    @cached_property
    def read_limit(self) -> ReadLimit:
        return ReadLimit(self._ports.clock)

    @cached_property
    def routes(self) -> list[Route]:
        ports = self._ports
        status = NewsStatus(ports.articles, ports.state, ports.clock, ports.log, self.read_limit)
        return updater_routes(self.updater, status, OperatorGate(self.settings.admin_token, ports.clock))
