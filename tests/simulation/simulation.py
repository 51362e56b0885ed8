"""One run: a plan of actions and a weather of faults from one seed, a world that takes them, and what broke."""

import asyncio
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, Protocol, TypeVar

from fakes.binding import Crash
from simulation.chance import Chance, Fault
from simulation.loop import OUTSIDE, Died, Process, SimulatedLoop, Stuck, current_process
from simulation.platform import Ports
from sluice.core.errors import SluiceError

Outcome = TypeVar("Outcome")
PATIENCE_S = 400.0  # of the virtual clock: a request that takes longer hangs for ever


class Action(NamedTuple):
    """Something that somebody does at a time."""

    at: float
    name: str
    arguments: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}{self.arguments}"


class Violation(Exception):
    """Something does not hold: the name of the check, and what was seen."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(f"{check}: {text}")
        self.check = check


class World(Protocol):
    """A service over the simulated platform, with its actors and its model."""

    async def start(self) -> None: ...
    async def act(self, action: Action) -> None:
        """Do it, and tell the model; an error that the platform may cause is the actor's to bear."""

    async def calm(self) -> None:
        """Let everything drain, now that the faults have stopped; then check what must hold in the end."""


class Scenario(NamedTuple):
    name: str
    plan: Callable[[Random], list[Action]]
    build: Callable[["Simulation"], World]


@dataclass(frozen=True)
class Report:
    seed: int
    actions: Sequence[Action]
    faults: Sequence[Fault]
    counts: Counter[str]
    history: Sequence[str]
    steps: int
    elapsed_s: float  # of the virtual clock
    violation: Violation | None


@dataclass
class Simulation:
    """What a run shares: chance, the ports, the history, and the first thing that does not hold."""

    chance: Chance
    outside: Process
    loop: SimulatedLoop
    history: list[str] = field(default_factory=list)
    violation: Violation | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.ports = Ports(self.chance, crash=self.crash)
        self.counts: Counter[str] = Counter()

    def note(self, text: str) -> None:
        self.history.append(f"{self.loop.time():10.3f} {text}")

    def crash(self, process: Process, why: str) -> None:
        self.note(f"{process.name} dies {why}")
        process.kill()

    def violate(self, check: str, text: str) -> None:
        if self.violation is None:
            self.violation = Violation(check, text)
            self.note(f"BROKEN {check}: {text}")
            self.ended.set()

    def require(self, holds: bool, check: str, text: object = "") -> None:
        if not holds:
            self.violate(check, str(text() if callable(text) else text))

    def new_id(self) -> str:
        return f"{self.chance.order.getrandbits(128):032x}"


@dataclass
class SimulatedLog:
    """The log of a process; an error that nobody raises on purpose is a defect."""

    simulation: Simulation
    lines: Counter[str] = field(default_factory=Counter)

    def event(self, name: str, /, **_fields: object) -> None:
        self.lines[name] += 1

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        self.lines[name] += 1
        self.simulation.note(f"{current_process().name} logs {name}: {error!r:.200}")
        if not isinstance(error, SluiceError | Crash | Died):
            text = "".join(traceback.format_exception(error))
            self.simulation.violate("no defect is logged", f"{name} {fields}: {text}")


def run_seed(
    scenario: Scenario,
    seed: int,
    *,
    actions: Sequence[Action] | None = None,
    faults: Collection[str] | None = None,
    schedule: int = 0,
) -> Report:
    """Run one seed; with `actions` or `faults` only these of it."""
    chance = Chance(seed, allowed=faults, schedule=schedule)
    planned = scenario.plan(Random(f"{seed} plan"))
    taken = planned if actions is None else list(actions)
    outside = Process(OUTSIDE, OUTSIDE)
    loop = SimulatedLoop(chance.order, outside)
    simulation = Simulation(chance, outside, loop)
    chance.now, chance.note = loop.time, simulation.note
    try:
        outside.run(lambda: loop.run_until_complete(_run(scenario, simulation, taken)))
    except Stuck as error:
        simulation.violate("nothing stands still", str(error))
    finally:
        loop.bury()
    return Report(
        seed,
        taken,
        chance.injected,
        chance.counts + simulation.counts,
        simulation.history,
        loop.steps,
        loop.time(),
        simulation.violation,
    )


async def _run(scenario: Scenario, simulation: Simulation, actions: Sequence[Action]) -> None:
    world = scenario.build(simulation)
    work = asyncio.ensure_future(_live(world, simulation, actions))
    end = asyncio.ensure_future(simulation.ended.wait())
    await asyncio.wait([work, end], return_when=asyncio.FIRST_COMPLETED)
    if work.done() and not work.cancelled() and (error := work.exception()):
        text = "".join(traceback.format_exception(error))
        check = error.check if isinstance(error, Violation) else "the simulation itself runs"
        simulation.violate(check, str(error) if isinstance(error, Violation) else text)


async def _live(world: World, simulation: Simulation, actions: Sequence[Action]) -> None:
    simulation.chance.enabled = False
    await world.start()
    simulation.chance.enabled = True
    began_at = simulation.loop.time()
    doing = [asyncio.ensure_future(_act(world, simulation, action, began_at)) for action in actions]
    if doing:
        await asyncio.gather(*doing)
    simulation.chance.enabled = False
    simulation.note("the faults stop")
    await world.calm()


async def _act(world: World, simulation: Simulation, action: Action, began_at: float) -> None:
    await asyncio.sleep(began_at + action.at - simulation.loop.time())
    simulation.note(f"{action}")
    simulation.counts[f"action {action.name}"] += 1
    await world.act(action)


async def within(simulation: Simulation, work: Awaitable[Outcome], what: str) -> Outcome:
    """Return what must be there some time."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait([task], timeout=PATIENCE_S)
    if not done:
        simulation.violate("no request hangs", what)
    return task.result()
