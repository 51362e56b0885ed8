"""The three news Workers, put together from their bindings."""

from typing import Any, Final

from sluice import __version__
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.analysts import Analyst
from sluice.core.news.analysts.embedded import EmbeddedAnalyst
from sluice.core.news.scrape import Scraper
from sluice.platform.ai import AI
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import DurableObjects
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv, open_log
from sluice.services.news.collect.sources import sources_of
from sluice.services.news.collect.updater import Updater
from sluice.services.news.http.status import Status
from sluice.services.news.process.checkpoint_store import Ledger
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.stages import Phases
from sluice.services.news.process.workers_ai import WorkersAi
from sluice.services.news.run_lease.object_leases import ObjectTurns
from sluice.services.news.settings import ProcessorSettings, UpdaterSettings
from sluice.services.news.storage.keys import API_WRITES, PROCESSOR_WRITES, UPDATER_WRITES
from sluice.services.news.storage.write_domain import Domain

KV: Final = "CRYPTO_NEWS_CACHE"
AI_TIMEOUT_S: Final = 45.0
USER_AGENT: Final = f"sluice-news/{__version__}"


def updater_of(env: Any, settings: UpdaterSettings, name: str) -> Updater:
    return Updater(
        store=Domain(open_kv(env, KV), UPDATER_WRITES),
        turns=_turns(env, settings.lease_s),
        sources=sources_of(settings, _fetcher(settings.allow_private_hosts).fetch),
        clock=SystemClock(),
        log=open_log(name),
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
        store=Domain(open_kv(env, KV), PROCESSOR_WRITES),
        turns=_turns(env, settings.lease_s),
        phases=phases,
        clock=SystemClock(),
        log=open_log(name),
        settings=settings,
    )
    return Processor(ledger)


def status_of(env: Any) -> Status:
    return Status(reader_of(env), SystemClock())


def reader_of(env: Any) -> Domain:
    """Everything may be read, nothing written."""
    return Domain(open_kv(env, KV), API_WRITES)


def _analyst(env: Any, embedded: Analyst) -> Analyst:
    bound = getattr(env, "AI", None)
    return embedded if bound is None else WorkersAi(AI(bound, timeout_s=AI_TIMEOUT_S).run)


def _turns(env: Any, lease_s: int) -> ObjectTurns:
    return ObjectTurns(DurableObjects(env.RUN_LOCK).get("news"), generate_id, lease_s)


def _fetcher(allow_private_hosts: str) -> Fetcher:
    return Fetcher(send_request, AllowedHosts.parse(allow_private_hosts))
