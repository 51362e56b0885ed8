"""How often one client may read what costs a query."""

import pytest

from fakes.clock import ManualClock
from sluice.core.errors import TooManyRequests
from sluice.web import Headers, Reply, Request
from sluice.web.clients import MAX_READERS, MAX_READS, NETWORK_CLIENTS, READS_WINDOW_S, ReadLimit


class Reader:
    """Clients of one handler behind a limit."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.limit = ReadLimit(self.clock)
        self.handle = self.limit.limit(self.answer)

    async def answer(self, _request: Request) -> Reply:
        return Reply.text("read")

    async def ask(self, *clients: str) -> int:
        """Return how many of the requests of these clients are answered."""
        answered = 0
        for client in clients:
            headers = Headers({"CF-Connecting-IP": client} if client else {})
            try:
                await self.handle(Request("GET", "https://sluice.test/status", headers))
            except TooManyRequests:
                continue
            answered += 1
        return answered


async def test_reads_of_one_client():
    """A client reads so often in a window, and again in the next one; another client is not concerned."""
    reader = Reader()
    assert await reader.ask(*["203.0.113.7"] * (MAX_READS + 5)) == MAX_READS
    assert await reader.ask("203.0.113.8") == 1
    with pytest.raises(TooManyRequests, match=f"more than {MAX_READS} reads in {READS_WINDOW_S} s") as refusal:
        await reader.handle(Request("GET", "https://sluice.test/", Headers({"CF-Connecting-IP": "203.0.113.7"})))
    assert refusal.value.retry_after_s == READS_WINDOW_S
    reader.clock.advance(READS_WINDOW_S)
    assert await reader.ask("203.0.113.7") == 1


async def test_reads_of_one_network():
    """Many clients of one IPv6 /48 read as much as ten of them."""
    reader = Reader()
    clients = [f"2001:db8:1:{number % 60:x}::1" for number in range(MAX_READS * NETWORK_CLIENTS + 50)]
    assert await reader.ask(*clients) == MAX_READS * NETWORK_CLIENTS
    assert await reader.ask("2001:db8:2::1") == 1


async def test_without_an_address():
    """Who is not named comes from another Worker or a local test, and is not limited."""
    assert await Reader().ask(*[""] * (MAX_READS + 5)) == MAX_READS + 5


async def test_few_clients_are_remembered():
    """Many clients do not fill the memory."""
    reader = Reader()
    await reader.ask(*(f"10.0.{number // 250}.{number % 250}" for number in range(MAX_READERS * 2)))
    assert len(reader.limit.counts) <= MAX_READERS
