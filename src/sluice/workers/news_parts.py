"""The parts that the three news Workers share."""

from functools import cached_property
from typing import Any, ClassVar, Final

from sluice.core.ports import Clock, Log
from sluice.platform.clock import SystemClock
from sluice.platform.storage.kv import KV
from sluice.platform.worker import open_kv, open_log
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.state.calls import StateCalls
from sluice.services.news.storage.keys import API_WRITES
from sluice.services.news.storage.write_domain import WriteDomain
from sluice.web import Cors
from sluice.workers.news_connections import connect_news_state

KV_BINDING: Final = "CRYPTO_NEWS_CACHE"


class NewsWorker:
    """The parts that all three Workers have."""

    name: ClassVar[str]

    def __init__(self, env: Any, ctx: Any) -> None:
        self.env = env
        self.ctx = ctx

    @property
    def cors(self) -> Cors | None:
        return None

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
    def state(self) -> StateCalls:
        return connect_news_state(self.env)

    @cached_property
    def status(self) -> NewsStatus:
        return NewsStatus(self.read_only_kv, self.state, self.clock, self.log)
