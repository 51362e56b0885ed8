"""The three news Workers, put together from their bindings."""

from typing import Any, Final

from sluice import __version__
from sluice.core.net.addresses import Allowed
from sluice.core.net.fetch import Fetcher
from sluice.news.analyst import Analyst
from sluice.news.analyst.embedded import EmbeddedAnalyst
from sluice.news.analyst.workers_ai import WorkersAi
from sluice.news.keys import API_WRITES, PROCESSOR_WRITES, UPDATER_WRITES
from sluice.news.ledger import Ledger
from sluice.news.phases import Phases
from sluice.news.processor import Processor
from sluice.news.scrape import Scraper
from sluice.news.settings import ProcessorSettings, UpdaterSettings
from sluice.news.sources import sources_of
from sluice.news.status import Status
from sluice.news.updater import Updater
from sluice.platform.ai import AI
from sluice.platform.clock import SystemClock
from sluice.platform.identity import random_id
from sluice.platform.news_kv import Domain
from sluice.platform.objects import Objects
from sluice.platform.transport import workers_transport
from sluice.platform.worker import kv_of, log_of
from sluice.wiring.news_turns import ObjectTurns

KV: Final = "CRYPTO_NEWS_CACHE"
AI_TIMEOUT_S: Final = 45.0
USER_AGENT: Final = f"sluice-news/{__version__}"


def updater_of(env: Any, settings: UpdaterSettings, name: str) -> Updater:
    return Updater(
        store=Domain(kv_of(env, KV), UPDATER_WRITES),
        turns=_turns(env, settings.lease_s),
        sources=sources_of(settings, _fetcher(settings.allow_private_hosts).fetch),
        clock=SystemClock(),
        log=log_of(name),
        settings=settings,
    )


def processor_of(env: Any, settings: ProcessorSettings, name: str) -> Processor:
    embedded = EmbeddedAnalyst()
    phases = Phases(
        analyst=_analyst(env, embedded),
        reserve=embedded,
        scrape=Scraper(_fetcher(settings.allow_private_hosts).fetch, USER_AGENT, settings.max_content_chars),
        max_attempts=settings.max_attempts,
    )
    ledger = Ledger(
        store=Domain(kv_of(env, KV), PROCESSOR_WRITES),
        turns=_turns(env, settings.lease_s),
        phases=phases,
        clock=SystemClock(),
        log=log_of(name),
        settings=settings,
    )
    return Processor(ledger)


def status_of(env: Any) -> Status:
    return Status(reader_of(env), SystemClock())


def reader_of(env: Any) -> Domain:
    """Everything may be read, nothing written."""
    return Domain(kv_of(env, KV), API_WRITES)


def _analyst(env: Any, embedded: Analyst) -> Analyst:
    bound = getattr(env, "AI", None)
    return embedded if bound is None else WorkersAi(AI(bound, timeout_s=AI_TIMEOUT_S).run)


def _turns(env: Any, lease_s: int) -> ObjectTurns:
    return ObjectTurns(Objects(env.RUN_LOCK).named("news"), random_id, lease_s)


def _fetcher(allow_private_hosts: str) -> Fetcher:
    return Fetcher(workers_transport, Allowed.parse(allow_private_hosts))
