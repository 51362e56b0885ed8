"""The composition of worker-news-updater: bindings in, parts out."""

from functools import cached_property

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.http.transport import send_request
from sluice.platform.worker import read_variables
from sluice.services.news.collect.conditional import ConditionalFeeds
from sluice.services.news.collect.sources import choose_sources
from sluice.services.news.collect.updater import Updater
from sluice.services.news.http.updater import updater_routes
from sluice.services.news.settings import UpdaterSettings
from sluice.services.news.storage.keys import UPDATER_WRITES
from sluice.services.news.storage.write_domain import WriteDomain
from sluice.web import Route
from sluice.workers.news_leases import connect_leases
from sluice.workers.news_parts import NewsWorker


class NewsUpdaterWorker(NewsWorker):
    """Collects articles."""

    name = "worker-news-updater"

    @cached_property
    def settings(self) -> UpdaterSettings:
        return UpdaterSettings.read(read_variables(self.env))

    @cached_property
    def fetcher(self) -> Fetcher:
        return Fetcher(send_request, AllowedHosts.parse(self.settings.allow_private_hosts))

    @cached_property
    def feeds(self) -> ConditionalFeeds:
        return ConditionalFeeds(self.fetcher.fetch, self.clock)

    @cached_property
    def updater(self) -> Updater:
        return Updater(
            kv=WriteDomain(self.kv, UPDATER_WRITES),
            leases=connect_leases(self.env, self.settings.lease_s),
            sources=choose_sources(self.settings, self.feeds),
            feeds=self.feeds,
            state=self.state,
            clock=self.clock,
            log=self.log,
            settings=self.settings,
        )

    @cached_property
    def routes(self) -> list[Route]:
        return updater_routes(self.updater, self.status, self.settings.admin_token)
