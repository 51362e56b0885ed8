"""What chance decides: which faults occur, and how long everything takes.

A fault is named by its kind, its place and a number, and occurs or not by the seed and this name alone. So one fault that is left out
changes none of the others, and a failing run can be shrunk. Each seed has a weather of its own: some kinds of faults never
occur in it, some rarely, some often, because a run with everything at once reaches little that lies deep.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

RATES = (0.0, 0.002, 0.01, 0.03)
PLACES = (0.0, 0.0, 1.0, 1.0, 4.0)  # by how much more often at one place


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault that occurred."""

    name: str  # kind, place and number
    kind: str
    at: float


@dataclass
class Chance:
    seed: int
    # What a shrunken run allows, None: everything.
    allowed: Collection[str] | None = None
    schedule: int = 0  # another order of the same faults
    enabled: bool = True
    injected: list[Fault] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    now: Callable[[], float] = lambda: 0.0
    note: Callable[[str], None] = lambda _text: None

    def __post_init__(self) -> None:
        self._numbers: Counter[str] = Counter()
        self._rates: dict[str, float] = {}
        self.order = Random(f"{self.seed} order {self.schedule}")
        self.delays = Random(f"{self.seed} delays {self.schedule}")

    def occurs(self, kind: str, place: str, *, scale: float = 1.0) -> bool:
        """Return whether a fault of this kind occurs here and now."""
        if not self.enabled:
            return False
        rate = self._find_rate(kind, place) * scale
        if not rate:
            return False
        key = f"{kind} {place}"
        self._numbers[key] += 1
        name = f"{key} {self._numbers[key]}"
        if self._draw(name) >= rate or (self.allowed is not None and name not in self.allowed):
            return False
        self.injected.append(Fault(name, kind, self.now()))
        self.counts[kind] += 1
        self.note(f"FAULT {name}")
        return True

    def amount(self, name: str, least: float, most: float) -> float:
        """Return a number of this size for a fault, by its name alone."""
        self._numbers[name] += 1
        return least + (most - least) * self._draw(f"{name} {self._numbers[name]}")

    def delay(self) -> float:
        """Return how long one call to the platform takes: mostly little, sometimes much."""
        drawn = self.delays.random()
        return 0.0005 + 0.02 * drawn if drawn < 0.95 else 0.3 * self.delays.random()

    def _find_rate(self, kind: str, place: str) -> float:
        key = f"{kind} {place}"
        if key not in self._rates:
            of_kind = RATES[int(self._draw(f"weather {kind}") * len(RATES))]
            self._rates[key] = of_kind * PLACES[int(self._draw(f"weather {key}") * len(PLACES))]
        return self._rates[key]

    def _draw(self, name: str) -> float:
        digest = blake2b(f"{self.seed} {name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64
