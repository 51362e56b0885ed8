"""What one isolate remembers between requests: plain values only, because no request may touch another one's promises."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.waits import is_waiting
from sluice.services.preload.serving.copies import Copy
from sluice.services.preload.serving.replies import VisitTally

MAX_REMEMBERED: Final = 2000  # pages of each kind; then all are forgotten
MAX_HELD_BYTES: Final = 32 * 1024 * 1024  # of pages that are being stored
FLIGHT_S: Final = 30.0  # after this time nobody waits for a flight any more: its leader has died
KEYS_KEPT_S: Final = 60.0
UNSHARED_S: Final = 60.0  # for so long nobody waits for a page that could not be shared


@dataclass(slots=True)
class Flight:
    """A page that one visitor's request is bringing into the cache, while others wait for it."""

    began_at: float
    copy: Copy | None = None
    is_over: bool = False
    # The flight that all who waited for this one in vain wait for.
    next: "Flight | None" = None

    def end(self, copy: Copy | None = None) -> None:
        self.copy, self.is_over = copy, True


@dataclass(slots=True)
class IsolateMemory:
    flights: dict[str, Flight] = field(default_factory=dict)
    unshared: dict[str, float] = field(default_factory=dict)
    turns: dict[str, float] = field(default_factory=dict)
    visits: dict[str, float] = field(default_factory=dict)
    held_bytes: int = 0
    tallies: dict[str, VisitTally] = field(default_factory=dict)
    # The signing keys of each zone, and until when they are trusted.
    keys: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)

    def find_keys(self, zone_id: str, now: float) -> tuple[str, ...] | None:
        until, keys = self.keys.get(zone_id, (0.0, ()))
        return keys if is_waiting(until, now, KEYS_KEPT_S) else None

    def count_visit(self, key: str) -> int:
        """Count a visit of a page, and return the number of its visits so far."""
        _make_room(self.visits)
        self.visits[key] = self.visits.get(key, 0) + 1
        return int(self.visits[key])

    def find_flight(self, key: str, now: float, after: Flight | None = None) -> Flight | None:
        """Return the flight of a page that is worth waiting for; `after` was waited for in vain."""
        if after and after.next:
            return after.next
        flight = self.flights.get(key)
        is_worth = flight is not None and is_waiting(flight.began_at + FLIGHT_S, now, FLIGHT_S)
        return flight if flight is not after and is_worth else None

    def begin_flight(self, key: str, now: float, after: Flight | None = None) -> Flight:
        flight = self.flights[key] = Flight(now)
        if after:
            after.next = flight
        return flight

    def end_flight(self, key: str, flight: Flight) -> None:
        """Forget a flight; who waits for it still holds it."""
        flight.is_over = True
        if self.flights.get(key) is flight:
            del self.flights[key]

    def note_unshared(self, key: str, now: float) -> None:
        _make_room(self.unshared)
        self.unshared[key] = now + UNSHARED_S

    def is_unshared(self, key: str, now: float) -> bool:
        """Return whether the page could not be shared a moment ago, so that nobody should wait for another visitor's request."""
        return is_waiting(self.unshared.get(key, 0.0), now, UNSHARED_S)

    def claim_interval(self, name: str, interval_s: float, now: float) -> bool:
        """Return whether something was last done at least so long ago; if so, it counts as done now."""
        if is_waiting(self.turns.get(name, -interval_s) + interval_s, now, interval_s):
            return False
        _make_room(self.turns)
        self.turns[name] = now
        return True


@dataclass(slots=True)
class Reservation:
    """The bytes that one page takes of the isolate's memory, up to a limit for the page."""

    memory: IsolateMemory
    max_bytes: int
    held_bytes: int = 0

    def take(self, count: int) -> bool:
        """Reserve so many bytes more; return whether they may be held."""
        if self.held_bytes + count > self.max_bytes or self.memory.held_bytes + count > MAX_HELD_BYTES:
            return False
        self.held_bytes += count
        self.memory.held_bytes += count
        return True

    def release(self) -> None:
        self.memory.held_bytes -= self.held_bytes
        self.held_bytes = 0


def _make_room(remembered: dict[str, float]) -> None:
    if len(remembered) >= MAX_REMEMBERED:
        remembered.clear()
