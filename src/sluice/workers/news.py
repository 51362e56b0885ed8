"""The composition of the three news Workers: bindings in, parts out."""

from functools import cached_property
from typing import Any, ClassVar, Final

from sluice import __version__
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.analysts import Analyst
from sluice.core.news.analysts.embedded import EmbeddedAnalyst
from sluice.core.news.scrape import Scraper
from sluice.core.ports import Clock, Log
from sluice.platform.ai import AI
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import DurableObjects, Sql
from sluice.platform.http.assets import serve_page
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.storage.kv import KV
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.news.collect.sources import choose_sources
from sluice.services.news.collect.updater import Updater
from sluice.services.news.http.api import EXPOSED_HEADERS, NewsApi
from sluice.services.news.http.processor import processor_routes
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.http.updater import updater_routes
from sluice.services.news.process.analysts import choose_analyst
from sluice.services.news.process.article_store import ArticleStore
from sluice.services.news.process.checkpoint_store import CheckpointStore
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.stages import StageRunner
from sluice.services.news.process.workers_ai import RunModel
from sluice.services.news.run_lease.object_leases import ObjectRunLeases
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.settings import ApiSettings, ProcessorSettings, UpdaterSettings
from sluice.services.news.storage.keys import API_WRITES, PROCESSOR_WRITES, UPDATER_WRITES
from sluice.services.news.storage.write_domain import WriteDomain
from sluice.web import Cors, Route

KV_BINDING: Final = "CRYPTO_NEWS_CACHE"
LOCK_OBJECT: Final = "news"
AI_TIMEOUT_S: Final = 45.0
PREFLIGHT_AGE_S: Final = 86_400
USER_AGENT: Final = f"sluice-news/{__version__}"


class NewsWorker:
    """The parts that all three Workers have."""

    name: ClassVar[str]

    def __init__(self, env: Any, ctx: Any) -> None:
        self.env = env
        self.ctx = ctx

    @cached_property
    def clock(self) -> Clock:
        return SystemClock()

    @cached_property
    def log(self) -> Log:
        return open_log(self.name)

    @cached_property
    def kv(self) -> KV:
        return open_kv(self.env, KV_BINDING)

    @cached_property
    def read_only_kv(self) -> WriteDomain:
        return WriteDomain(self.kv, API_WRITES)

    @cached_property
    def status(self) -> NewsStatus:
        return NewsStatus(self.read_only_kv, self.clock)


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
    def updater(self) -> Updater:
        return Updater(
            kv=WriteDomain(self.kv, UPDATER_WRITES),
            leases=connect_leases(self.env, self.settings.lease_s),
            sources=choose_sources(self.settings, self.fetcher.fetch),
            clock=self.clock,
            log=self.log,
            settings=self.settings,
        )

    @cached_property
    def routes(self) -> list[Route]:
        return updater_routes(self.updater, self.status, self.settings.admin_token)


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
            analyst=choose_analyst(getattr(self.env, "AI", None), connect_ai, self.embedded_analyst),
            fallback=self.embedded_analyst,
            scrape=self.scraper,
            max_attempts=self.settings.max_attempts,
        )

    @cached_property
    def checkpoints(self) -> CheckpointStore:
        return CheckpointStore(
            kv=self.writable_kv,
            leases=connect_leases(self.env, self.settings.lease_s),
            clock=self.clock,
            log=self.log,
            settings=self.settings,
        )

    @cached_property
    def processor(self) -> Processor:
        return Processor(
            checkpoints=self.checkpoints,
            articles=ArticleStore(kv=self.writable_kv, clock=self.clock, settings=self.settings),
            stages=self.stages,
            log=self.log,
            settings=self.settings,
        )

    @cached_property
    def routes(self) -> list[Route]:
        return processor_routes(self.processor, self.status, self.settings.admin_token)


class NewsApiWorker(NewsWorker):
    """Serves articles; reads every key and writes none."""

    name = "worker-api"

    @cached_property
    def settings(self) -> ApiSettings:
        return ApiSettings.read(read_variables(self.env))

    @cached_property
    def api(self) -> NewsApi:
        return NewsApi(self.read_only_kv, self.clock, self.settings.public_url)

    @cached_property
    def cors(self) -> Cors:
        return Cors(origins=self.settings.cors_origins, expose_headers=EXPOSED_HEADERS, max_age_s=PREFLIGHT_AGE_S)

    @cached_property
    def routes(self) -> list[Route]:
        page = Route("GET", "/", serve_page(self.env, "news"))
        return [page, *self.api.routes(), *self.status.routes()]


def open_run_lock(ctx: Any) -> RunLock:
    """The run lock of a Durable Object."""
    return RunLock(Sql(ctx.storage))


def connect_leases(env: Any, lease_s: int) -> ObjectRunLeases:
    return ObjectRunLeases(DurableObjects(env.RUN_LOCK).get(LOCK_OBJECT), generate_id, lease_s)


def connect_ai(binding: Any) -> RunModel:
    return AI(binding, timeout_s=AI_TIMEOUT_S).run
