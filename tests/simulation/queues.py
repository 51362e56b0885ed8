"""Queues as they may behave: messages late, reordered, repeated, and lost with the process that kept them.

Cloudflare keeps messages through everything; Miniflare keeps them in memory. A message that was retried too often goes to the dead letters.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from fakes.queues import FakeMessage, _encode_body, _read_delay
from simulation.loop import Process
from simulation.platform import Ports

BATCH = 5
BATCH_WAIT_S = 3.0
MAX_RETRIES = 4

# Gives a batch to the consumer; an error makes the queue deliver again what was not acknowledged.
Deliver = Callable[[str, Sequence[FakeMessage]], Awaitable[None]]


@dataclass
class SimulatedQueue:
    name: str
    ports: Ports
    outside: Process
    deliver: Deliver
    dead_letters: "SimulatedQueue | None" = None
    waiting: list[FakeMessage] = field(default_factory=list)
    sent: int = 0
    lost: int = 0  # how often everything was lost
    _is_pumping: bool = False

    async def send(self, body: object, options: dict[str, int]) -> None:
        message, delay_s = _encode_body(body), _read_delay(options)

        async def store() -> None:
            self.sent += 1
            self._arrive(FakeMessage(f"{self.name}-{self.sent}", json.loads(message)), delay_s)

        await self.ports.call("queue send", store, failure="Queue send failed: Internal Server Error")

    def lose_all(self) -> None:
        """Forget every message, those that are being worked on too."""
        self.lost += 1
        self.waiting.clear()

    def _arrive(self, message: FakeMessage, delay_s: float) -> None:
        if self.ports.chance.occurs("late message", self.name):
            delay_s += self.ports.chance.amount("late message", 5, 120)
        lost = self.lost

        def be_due() -> None:
            if lost == self.lost:
                self.waiting.append(message)
                self._pump()

        self.outside.run(lambda: asyncio.get_running_loop().call_later(delay_s, be_due))

    def _pump(self) -> None:
        if not self._is_pumping:
            self._is_pumping = True
            self.outside.spawn(self._collect())

    async def _collect(self) -> None:
        await asyncio.sleep(BATCH_WAIT_S * self.ports.chance.delays.random())
        self.ports.chance.order.shuffle(self.waiting)
        batch = self.waiting[:BATCH]
        del self.waiting[:BATCH]
        self._is_pumping = False
        if self.waiting:
            self._pump()
        if batch:
            await self._hand_over(batch)

    async def _hand_over(self, batch: list[FakeMessage]) -> None:
        lost, has_failed = self.lost, False
        try:
            await self.deliver(self.name, batch)
        except Exception:  # noqa: BLE001 - as the platform does
            has_failed = True
        if lost != self.lost:
            return
        for message in batch:
            is_retried = message.answer == "retry" or (has_failed and message.answer is None)
            if not is_retried and not self.ports.chance.occurs("message twice", self.name):
                continue
            again = FakeMessage(message.id, message.body, message.attempts + int(is_retried))
            if again.attempts <= MAX_RETRIES + 1:
                self._arrive(again, message.delay_s)
            elif self.dead_letters is not None:
                self.dead_letters._arrive(FakeMessage(message.id, message.body), 0.0)
