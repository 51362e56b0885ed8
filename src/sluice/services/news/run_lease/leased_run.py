"""Does work under the run lease, and renews the lease while the work goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

from sluice.core.errors import SluiceError
from sluice.services.news.run_lease.lease import RunLease, RunLeases
from sluice.services.news.run_outcomes import Busy

# So often that a long run keeps its lease.
_RENEWALS_PER_LEASE: Final = 4

T = TypeVar("T")


async def run_with_lease(leases: RunLeases, lease_s: int, work: Callable[[RunLease], Awaitable[T]]) -> T | Busy:
    """Return what the work returns, or Busy while another run holds the lease."""
    lease = await leases.acquire()
    if lease is None:
        return Busy()
    renewal = asyncio.ensure_future(_renew_repeatedly(leases, lease, lease_s / _RENEWALS_PER_LEASE))
    try:
        result = await work(lease)
    except Exception:
        # Not for exceptions that end the process: then the lease expires by itself.
        await leases.release(lease)
        raise
    finally:
        renewal.cancel()
    await leases.release(lease)
    return result


async def _renew_repeatedly(leases: RunLeases, lease: RunLease, interval_s: float) -> None:
    while True:
        await asyncio.sleep(interval_s)
        # A run that has lost its lease fails at its next announcement.
        with suppress(SluiceError):
            await leases.renew(lease)
