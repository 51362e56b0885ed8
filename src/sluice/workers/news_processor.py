"""The composition of worker-news-processor: bindings in, parts out."""

from functools import cached_property
from typing import Any, Final

from sluice import __version__
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.analysts import Analyst
from sluice.core.news.analysts.embedded import EmbeddedAnalyst
from sluice.core.news.scrape import Scraper
from sluice.platform.ai import AI
from sluice.platform.http.transport import send_request
from sluice.platform.worker import read_variables
from sluice.services.news.http.processor import processor_routes
from sluice.services.news.process.analysts import choose_second_look, choose_speaker
from sluice.services.news.process.article_store import ArticleStore
from sluice.services.news.process.checkpoint_store import CheckpointStore
from sluice.services.news.process.index_store import IndexStore
from sluice.services.news.process.legacy_adoption import LegacyAdoption
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.publishing import Publisher
from sluice.services.news.process.spoken import OneAnalyst
from sluice.services.news.process.stages import StageRunner
from sluice.services.news.process.workers_ai import RunModel
from sluice.services.news.run_lease.lease import RunLeases
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.keys import PROCESSOR_WRITES
from sluice.services.news.storage.write_domain import WriteDomain
from sluice.web import Route
from sluice.workers.news_connections import connect_news_api
from sluice.workers.news_leases import connect_leases
from sluice.workers.news_parts import NewsWorker

AI_TIMEOUT_S: Final = 45.0
USER_AGENT: Final = f"sluice-news/{__version__}"


class NewsProcessorWorker(NewsWorker):
    """Enriches articles."""

    name = "worker-news-processor"

    @cached_property
    def settings(self) -> ProcessorSettings:
        return ProcessorSettings.read(read_variables(self.env))

    @cached_property
    def writable_kv(self) -> WriteDomain:
        return WriteDomain(self.kv, PROCESSOR_WRITES)

    @cached_property
    def embedded_analyst(self) -> Analyst:
        return EmbeddedAnalyst()

    @cached_property
    def scraper(self) -> Scraper:
        fetcher = Fetcher(send_request, AllowedHosts.parse(self.settings.allow_private_hosts))
        return Scraper(fetcher.fetch, USER_AGENT, self.settings.max_content_chars)

    @cached_property
    def stages(self) -> StageRunner:
        return StageRunner(
            speaker=choose_speaker(
                getattr(self.env, "AI", None), connect_ai, self.embedded_analyst, self.state, self.settings
            ),
            fallback=OneAnalyst(self.embedded_analyst),
            scrape=self.scraper,
            max_attempts=self.settings.max_attempts,
        )

    @cached_property
    def leases(self) -> RunLeases:
        return connect_leases(self.env, self.settings.lease_s)

    @cached_property
    def indexes(self) -> IndexStore:
        return IndexStore(
            kv=self.writable_kv, leases=self.leases, clock=self.clock, log=self.log, settings=self.settings
        )

    @cached_property
    def checkpoints(self) -> CheckpointStore:
        return CheckpointStore(
            kv=self.writable_kv,
            leases=self.leases,
            indexes=self.indexes,
            clock=self.clock,
            log=self.log,
            settings=self.settings,
        )

    @cached_property
    def articles(self) -> ArticleStore:
        return ArticleStore(
            kv=self.writable_kv,
            leases=self.leases,
            indexes=self.indexes,
            clock=self.clock,
            settings=self.settings,
        )

    @cached_property
    def processor(self) -> Processor:
        return Processor(
            checkpoints=self.checkpoints,
            articles=self.articles,
            legacy=LegacyAdoption(
                kv=self.writable_kv,
                checkpoints=self.checkpoints,
                articles=self.articles,
                state=self.state,
                log=self.log,
            ),
            stages=self.stages,
            publisher=Publisher(self.state, connect_news_api(self.env), self.log),
            second_look=choose_second_look(
                self.stages.speaker, self.state, self.scraper, self.checkpoints.now_ms, self.log
            ),
            log=self.log,
            settings=self.settings,
        )

    @cached_property
    def routes(self) -> list[Route]:
        return processor_routes(self.processor, self.status, self.settings.admin_token)


def connect_ai(binding: Any) -> RunModel:
    return AI(binding, timeout_s=AI_TIMEOUT_S).run
