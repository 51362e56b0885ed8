"""The run lease of the two news Workers that write."""

from typing import Any, Final

from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import DurableObjects, Sql
from sluice.platform.identity import generate_id
from sluice.services.news.run_lease.object_leases import ObjectRunLeases
from sluice.services.news.run_lease.run_lock import RunLock

LOCK_OBJECT: Final = "news"


def open_run_lock(ctx: Any) -> RunLock:
    """The run lock of a Durable Object."""
    return RunLock(Sql(ctx.storage))


def connect_leases(env: Any, lease_s: int) -> ObjectRunLeases:
    return ObjectRunLeases(DurableObjects(env.RUN_LOCK).get(LOCK_OBJECT), generate_id, SystemClock(), lease_s)
