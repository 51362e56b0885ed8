"""Who asks, and how often somebody may read what costs a query: counted by each isolate for itself, so it costs nothing."""

import ipaddress
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from sluice.core.errors import TooManyRequests
from sluice.core.ports import Clock
from sluice.web.messages import Reply, Request
from sluice.web.router import Handler

UNKNOWN: Final = "unknown"
NETWORK_CLIENTS: Final = 10  # as many requests as so many clients, from the /48 that one customer may have
MAX_READS: Final = 300  # of a client, in one isolate
READS_WINDOW_S: Final = 60
MAX_READERS: Final = 1000  # that are remembered; then all are forgotten


class Client(NamedTuple):
    """Whom to charge, and the wider network around an IPv6 client."""

    key: str
    network: str = ""


@lru_cache(maxsize=256)
def find_client(address: str | None, scope: str = "") -> Client:
    """Return whom to charge: an IPv4 address, the /64 of an IPv6 address (one customer has that many), or `unknown`."""
    try:
        ip = ipaddress.ip_address((address or "").strip())
    except ValueError:
        return Client(f"{scope}{UNKNOWN}")
    if ip.version == 4:
        return Client(f"{scope}{ip}")
    if ip.ipv4_mapped:
        return Client(f"{scope}{ip.ipv4_mapped}")
    return Client(f"{scope}{_cut(ip, 64)}", f"{scope}{_cut(ip, 48)}")


def _cut(ip: ipaddress.IPv6Address, bits: int) -> str:
    dropped = 128 - bits
    return f"{ipaddress.IPv6Address(int(ip) >> dropped << dropped)}/{bits}"


@dataclass(slots=True)
class ReadLimit:
    """Counts what each client reads in a fixed window of one isolate."""

    clock: Clock
    counts: dict[str, int] = field(default_factory=dict)
    ends_at: float = 0.0

    def limit(self, handler: Handler) -> Handler:
        """Return the handler behind the limit."""

        async def handle(request: Request) -> Reply:
            self._count(find_client(request.client_ip))
            return await handler(request)

        return handle

    def _count(self, client: Client) -> None:
        # Cloudflare names every caller from outside; without a name it is another Worker, or a local test.
        if client.key == UNKNOWN:
            return
        now = self.clock.now()
        if not now < self.ends_at <= now + READS_WINDOW_S or len(self.counts) >= MAX_READERS:
            self.counts, self.ends_at = {}, now + READS_WINDOW_S
        for key, most in ((client.key, MAX_READS), (client.network, MAX_READS * NETWORK_CLIENTS)):
            if not key:
                continue
            if self.counts.get(key, 0) >= most:
                wait_s = max(1, math.ceil(self.ends_at - now))
                raise TooManyRequests(f"more than {most} reads in {READS_WINDOW_S} s: wait {wait_s} s", wait_s)
            self.counts[key] = self.counts.get(key, 0) + 1
