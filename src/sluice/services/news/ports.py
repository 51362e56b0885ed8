"""The ports of the news service: what its Workers need from outside."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from sluice.core.net.transport import Transport
from sluice.core.ports import Clock, KvWriter, Log, NewId
from sluice.core.variables import Variables
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.state.remote_state import RemoteNewsState


class SnapshotRefresher(Protocol):
    """worker-api, which refreshes the snapshot and then purges the cache before it."""

    def refresh(self) -> Awaitable[bool]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPorts:
    """The ports of a Worker that does runs. `articles` is the namespace that both write, each its own keys."""

    variables: Variables
    articles: KvWriter
    state: RemoteNewsState
    lock: RunLock
    transport: Transport
    new_id: NewId
    clock: Clock
    log: Log
