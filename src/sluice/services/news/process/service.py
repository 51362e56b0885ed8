"""worker-news-processor, put together from its ports: enriches articles."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sluice import __version__
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.analysts import Analyst
from sluice.core.news.analysts.embedded import EmbeddedAnalyst
from sluice.core.news.scrape import Scraper
from sluice.services.news.http.processor import processor_routes
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.ports import RunPorts, SnapshotRefresher
from sluice.services.news.process.answers import AnswerSource, FixedAnalyst, GuardedAi
from sluice.services.news.process.article_publisher import ArticlePublisher
from sluice.services.news.process.article_store import ArticleStore
from sluice.services.news.process.checkpoint_store import CheckpointStore
from sluice.services.news.process.index_store import IndexStore
from sluice.services.news.process.legacy_migration import LegacyMigration
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.second_look import SecondLook
from sluice.services.news.process.stages import Scrape, StageRunner
from sluice.services.news.process.workers_ai import RunModel, WorkersAi
from sluice.services.news.run_lease.lease import RunLeases
from sluice.services.news.run_lease.object_leases import ObjectRunLeases
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.keys import PROCESSOR_WRITES
from sluice.services.news.storage.write_domain import WriteDomain
from sluice.web import Cors, Route
from sluice.web.admin import OperatorGate
from sluice.web.clients import ReadLimit

USER_AGENT: Final = f"sluice-news/{__version__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsProcessorPorts(RunPorts):
    """The ports of worker-news-processor. `run_model` is None where Workers AI is not bound."""

    run_model: RunModel | None
    refresher: SnapshotRefresher


class NewsProcessorService:
    cors: Cors | None = None

    def __init__(self, ports: NewsProcessorPorts) -> None:
        self._ports = ports

    @cached_property
    def settings(self) -> ProcessorSettings:
        return ProcessorSettings.read(self._ports.variables)

    @cached_property
    def kv(self) -> WriteDomain:
        return WriteDomain(self._ports.articles, PROCESSOR_WRITES)

    @cached_property
    def leases(self) -> RunLeases:
        return ObjectRunLeases(self._ports.lock, self._ports.new_id, self._ports.clock, self.settings.lease_s)

    @cached_property
    def analyst(self) -> Analyst:
        return EmbeddedAnalyst()

    @cached_property
    def scrape(self) -> Scrape:
        fetcher = Fetcher(self._ports.transport, AllowedHosts.parse(self.settings.allow_private_hosts))
        return Scraper(fetcher.fetch, USER_AGENT, self.settings.max_content_chars)

    @cached_property
    def guarded_ai(self) -> GuardedAi | None:
        """Workers AI where it is bound."""
        run_model, settings = self._ports.run_model, self.settings
        if run_model is None:
            return None
        ai = WorkersAi(run_model, settings.ai_model)
        return GuardedAi(ai=ai, fallback=self.analyst, state=self._ports.state, daily_neurons=settings.ai_daily_neurons)

    @cached_property
    def stages(self) -> StageRunner:
        fallback: AnswerSource = FixedAnalyst(self.analyst)
        return StageRunner(
            answer_source=self.guarded_ai or fallback,
            fallback=fallback,
            scrape=self.scrape,
            max_attempts=self.settings.max_attempts,
        )

    @cached_property
    def indexes(self) -> IndexStore:
        ports = self._ports
        return IndexStore(kv=self.kv, leases=self.leases, clock=ports.clock, log=ports.log, settings=self.settings)

    @cached_property
    def checkpoints(self) -> CheckpointStore:
        ports = self._ports
        return CheckpointStore(
            kv=self.kv,
            leases=self.leases,
            indexes=self.indexes,
            clock=ports.clock,
            log=ports.log,
            settings=self.settings,
        )

    @cached_property
    def articles(self) -> ArticleStore:
        return ArticleStore(
            kv=self.kv,
            leases=self.leases,
            indexes=self.indexes,
            clock=self._ports.clock,
            settings=self.settings,
        )

    @cached_property
    def legacy(self) -> LegacyMigration:
        return LegacyMigration(
            kv=self.kv,
            checkpoints=self.checkpoints,
            articles=self.articles,
            state=self._ports.state,
            log=self._ports.log,
        )

    @cached_property
    def second_look(self) -> SecondLook | None:
        """None if the embedded analyst is the only one."""
        if self.guarded_ai is None:
            return None
        return SecondLook(
            answer_source=self.guarded_ai,
            state=self._ports.state,
            scrape=self.scrape,
            now_ms=self.checkpoints.now_ms,
            log=self._ports.log,
        )

    @cached_property
    def processor(self) -> Processor:
        ports = self._ports
        return Processor(
            checkpoints=self.checkpoints,
            articles=self.articles,
            legacy=self.legacy,
            stages=self.stages,
            publisher=ArticlePublisher(ports.state, ports.refresher, ports.log),
            second_look=self.second_look,
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
        return processor_routes(self.processor, status, OperatorGate(self.settings.admin_token, ports.clock))
