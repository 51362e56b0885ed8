"""The calls of all Durable Objects: each can travel."""

from types import FunctionType

import pytest

from sluice.core.remote import read_signature
from sluice.services.compiler.cache.remote_single_flight import CompilationCalls
from sluice.services.compiler.guard.rate_limit_window import RateLimitCalls
from sluice.services.compiler.jobs.sweeper import SweeperCalls
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.services.preload.zone.zone_object import ZoneCalls

DECLARED = (CompilationCalls, RateLimitCalls, SweeperCalls, RunLock, RemoteNewsState, ZoneCalls)


def list_calls(calls: type) -> list[str]:
    members = {name: member for kind in calls.__mro__ for name, member in vars(kind).items()}
    return [name for name, member in members.items() if isinstance(member, FunctionType) and not name.startswith("_")]


@pytest.mark.parametrize(
    ("calls", "name"), [(calls, name) for calls in DECLARED for name in list_calls(calls)], ids=str
)
def test_a_declared_call_can_travel(calls: type, name: str):
    """Every argument and result is of a type that both sides can write and read: it is known before the first call."""
    assert read_signature(calls, name).name == name
