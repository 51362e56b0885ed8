"""adblock-compiler, put together from its bindings."""

import random
from collections.abc import Coroutine, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

from sluice import __version__
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import parse_configuration
from sluice.core.compiler.diagnostics import Notify
from sluice.core.compiler.events import Emit
from sluice.core.compiler.limits import Limits
from sluice.core.compiler.sources.download import make_download
from sluice.core.errors import SluiceError
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.analytics import Analytics
from sluice.platform.background import run_in_background
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import DurableObjects
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.queues import Producer
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.compiler.cache.cache import SYNC_TTL_S, Handover, ResultCache
from sluice.services.compiler.cache.compilations import Compilations
from sluice.services.compiler.cache.provider import Desk
from sluice.services.compiler.cache.records import Records
from sluice.services.compiler.cache.shared_flight import ObjectFlights
from sluice.services.compiler.guard.guard import Guard
from sluice.services.compiler.guard.rate_limit import RateLimiter, SharedCount
from sluice.services.compiler.guard.turnstile import Turnstile
from sluice.services.compiler.http.compile import CompileApi
from sluice.services.compiler.http.jobs import QueueApi
from sluice.services.compiler.jobs.consumer import Consumer, Delivery
from sluice.services.compiler.jobs.jobs import Jobs
from sluice.services.compiler.jobs.stats import QueueStats
from sluice.services.compiler.live.socket import Conversation, Socket
from sluice.services.compiler.live.stream import StreamApi
from sluice.services.compiler.metrics.requests import Gathered, RequestMetrics
from sluice.services.compiler.requests import Priority
from sluice.services.compiler.settings import Settings
from sluice.services.compiler.workflows.items import Items
from sluice.web import Request

NAME: Final = "adblock-compiler"
DEAD_LETTERS: Final = "adblock-compiler-dlq"
SWEEPER: Final = "jobs"  # there is one
SOURCE_TIMEOUT_S: Final = 30.0
USER_AGENT: Final = (("User-Agent", f"sluice/{__version__}"),)
_CLOCK: Final = SystemClock()
_LIMITS: Final = Limits()
# One for all requests of an isolate; it holds numbers only.
_GATHERED: Final = Gathered()


class CompilerService:
    """Every part is made when it is first used, so that an invocation pays for what it needs."""

    def __init__(self, env: Any, ctx: Any) -> None:
        self.env = env
        self.ctx = ctx
        self.log = open_log(NAME)

    @cached_property
    def settings(self) -> Settings:
        return Settings.read(read_variables(self.env))

    @cached_property
    def database(self) -> D1:
        return D1(self.env.DB)

    @cached_property
    def bucket(self) -> R2:
        return R2(self.env.FILTER_STORAGE)

    @cached_property
    def fetcher(self) -> Fetcher:
        return Fetcher(send_request, AllowedHosts.parse(self.settings.allow_private_hosts))

    @cached_property
    def analytics(self) -> Analytics:
        return Analytics(self.env.ANALYTICS_ENGINE, self.log)

    @cached_property
    def metrics(self) -> RequestMetrics:
        return RequestMetrics(
            database=self.database,
            clock=_CLOCK,
            gathered=_GATHERED,
            background=self.background,
            analytics=self.analytics,
            log=self.log,
        )

    @cached_property
    def cache(self) -> ResultCache:
        store = open_kv(self.env, "COMPILATION_CACHE")
        return ResultCache(store=store, bucket=self.bucket, clock=_CLOCK, log=self.log)

    @cached_property
    def handover(self) -> Handover:
        return Handover(bucket=self.bucket, clock=_CLOCK)

    @cached_property
    def records(self) -> Records:
        return Records(
            database=self.database,
            analytics=self.analytics,
            clock=_CLOCK,
            log=self.log,
            count=self.metrics.count,
        )

    @cached_property
    def compilations(self) -> Compilations:
        return Compilations(
            make_compiler=self._compiler, cache=self.cache, records=self.records, clock=_CLOCK, log=self.log
        )

    @cached_property
    def desk(self) -> Desk:
        objects = DurableObjects(self.env.COMPILATIONS)
        return Desk(
            compilations=self.compilations,
            cache=self.cache,
            flights=ObjectFlights(objects, self.compilations, self.log),
            log=self.log,
            count=self.metrics.count,
        )

    @cached_property
    def turnstile(self) -> Turnstile:
        return Turnstile(
            secret=self.settings.turnstile_secret,
            fetch=self.fetcher.fetch,
            log=self.log,
            verify_url=self.settings.turnstile_verify_url,
        )

    @cached_property
    def guard(self) -> Guard:
        limiter = RateLimiter(
            object_of=lambda client: DurableObjects(self.env.RATE_LIMITER).get(client),
            fallback=SharedCount(open_kv(self.env, "RATE_LIMIT"), _CLOCK, self.background),
            clock=_CLOCK,
            log=self.log,
            max_requests=self.settings.rate_limit_max_requests,
            window_s=self.settings.rate_limit_window_s,
        )
        pepper = self.settings.turnstile_secret
        return Guard(limiter=limiter, turnstile=self.turnstile, analytics=self.analytics, pepper=pepper)

    @cached_property
    def jobs(self) -> Jobs:
        return Jobs(
            database=self.database,
            bucket=self.bucket,
            send=self._send,
            arm=lambda: DurableObjects(self.env.JOB_SWEEPER).get(SWEEPER).arm(),
            clock=_CLOCK,
            log=self.log,
        )

    @cached_property
    def items(self) -> Items:
        return Items(database=self.database, compile=self.desk.one, clock=_CLOCK)

    @cached_property
    def stats(self) -> QueueStats:
        return QueueStats(self.database, _CLOCK)

    @cached_property
    def consumer(self) -> Consumer:
        return Consumer(
            jobs=self.jobs,
            items=self.items,
            compile=self.desk.one,
            clock=_CLOCK,
            log=self.log,
            count=self.metrics.count,
        )

    @cached_property
    def compile_api(self) -> CompileApi:
        return CompileApi(guard=self.guard, desk=self.desk)

    @cached_property
    def stream_api(self) -> StreamApi:
        return StreamApi(guard=self.guard, compilations=self.compilations, log=self.log)

    @cached_property
    def queue_api(self) -> QueueApi:
        return QueueApi(
            guard=self.guard,
            jobs=self.jobs,
            items=self.items,
            stats=self.stats,
            cache=self.cache,
            clock=_CLOCK,
            draw=lambda: generate_id()[:10],
            count=self.metrics.count,
        )

    async def consume(self, queue: str, deliveries: Sequence[Delivery]) -> None:
        """A batch of jobs, or of messages that were given up."""
        work = self.consumer.bury if queue == DEAD_LETTERS else self.consumer.handle
        await work(deliveries)
        await self._publish_stats()

    async def _publish_stats(self) -> None:
        """The statistics where dashboards expect them; a copy, so it may be late or missing."""
        try:
            await open_kv(self.env, "METRICS").put_json("queue:stats", await self.stats.counts(), ttl_s=24 * 3600)
        except SluiceError as error:
            self.log.error("stats.unpublished", error)

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        run_in_background(self.ctx, work)

    def _compiler(self, emit: Emit, notify: Notify) -> FilterCompiler:
        fetch = partial(self.fetcher.fetch, headers=USER_AGENT)
        download = make_download(fetch, max_bytes=_LIMITS.source_bytes, timeout_s=SOURCE_TIMEOUT_S)
        return FilterCompiler(
            download=download, clock=_CLOCK, draw=random.random, limits=_LIMITS, emit=emit, notify=notify
        )

    async def _send(self, priority: Priority, body: Mapping[str, Any]) -> None:
        high, standard = self.env.ADBLOCK_COMPILER_QUEUE_HIGH_PRIORITY, self.env.ADBLOCK_COMPILER_QUEUE
        await Producer(high if priority == "high" else standard).send(dict(body))

    async def converse(self, request: Request, socket: Socket) -> None:
        await Conversation(
            socket,
            compile_list=self._compile_for_socket,
            admit=partial(self.guard.message, request),
            clock=_CLOCK,
            log=self.log,
            connection=f"ws-{round(_CLOCK.now() * 1000)}-{generate_id()[:8]}",
            version=__version__,
        ).run()

    async def _compile_for_socket(
        self, configuration: object, *, content: Mapping[str, str], benchmark: bool, emit: Emit
    ) -> Mapping[str, Any]:
        """Like a stream: compiled anew, and kept."""
        del benchmark  # the metrics are always there
        checked = parse_configuration(configuration)
        result = await self.compilations.produce(checked, path="socket", content=content, emit=emit)
        if not content:
            await self.compilations.keep(result, SYNC_TTL_S)
        return result.reply_json()
