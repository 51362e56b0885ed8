"""The compiler under simulation: clients, an operator, subscribers, crons, and moody sources.

What was accepted ends once, with a reason. Equal requests with one key are one job. The address of a list is always one whole version.
What was stored for a job, a workflow or a build goes away. Limits hold, and the statistics count what happened.

What is not simulated yet: sockets and streams, Turnstile, mirrors, and the public cache in front of addresses. Clocks jump by an hour at most: keys and
builds are stored with times that every isolate compares with its own clock, so one that is a day ahead ends what counts for a day.
"""

import asyncio
from random import Random
from typing import Any, Final

from simulation.compiler_checks import CalmChecks
from simulation.compiler_jobs import OWN, PATHS, Jobs
from simulation.compiler_lists import FORMATS, Lists
from simulation.compiler_sources import Sources
from simulation.compiler_world import ISOLATES, SOURCES, CompilerPlatform
from simulation.platform import EPOCH_S
from simulation.simulation import Action, Scenario, Simulation
from sluice.services.compiler.cron import WARMING_CRON

SWEEPER: Final = "sweeper"
OBJECTS: Final = ("compilation", "rate limit", SWEEPER)
_WEIGHTS: Final = {
    "submit": 14,
    "compile": 5,
    "cancel": 3,
    "show": 5,
    "flood": 1,
    "put": 4,
    "rebuild": 5,
    "roll back": 3,
    "delete": 1,
    "subscribe": 14,
    "change": 6,
    "mood": 6,
    "crash worker": 4,
    "crash object": 3,
    "restart": 1,
    "set clock": 2,
    "cron": 2,
}


def plan(chance: Random) -> list[Action]:
    """Return what happens in some minutes up to an hour or two."""
    minutes = chance.choice((5, 20, 90))
    weights = {name: weight * chance.choice((0, 1, 1, 3)) for name, weight in _WEIGHTS.items()}
    weights["submit"] += 3
    names = chance.choices(list(weights), list(weights.values()), k=chance.choice((15, 40, 70)))
    actions = [
        Action(round(chance.uniform(5, minutes * 60), 3), name, _choose_arguments(name, chance, number))
        for number, name in enumerate(names)
    ]
    first = [Action(0.0, "put", (chance.choice(ISOLATES), name, _choose_sources(chance), "")) for name in FORMATS]
    return [*first, *sorted(actions)]


def _choose_sources(chance: Random) -> tuple[int, ...]:
    return tuple(sorted(chance.sample(range(len(SOURCES)), chance.choice((1, 2, 3)))))


def _choose_arguments(name: str, chance: Random, number: int) -> tuple[Any, ...]:
    isolate, listed = chance.choice(ISOLATES), chance.choice(list(FORMATS))
    key = chance.choice(("", f"key-{number}"))
    source, sources, client = chance.randrange(len(SOURCES)), _choose_sources(chance), chance.randrange(3)
    moods = ("down", "slow", "hangs", "hangs", "page", "empty")
    arguments: dict[str, tuple[Any, ...]] = {
        "submit": (
            chance.choice(list(PATHS)),
            number,
            sources,
            client,
            chance.choice((False, True, True)),
            chance.choice((1, 1, 2, 3)),
        ),
        "compile": (isolate, client, sources),
        "cancel": (isolate, chance.randrange(100)),
        "show": (isolate, chance.randrange(100)),
        "put": (isolate, listed, sources, key),
        "rebuild": (isolate, listed, key),
        "roll back": (isolate, listed, chance.randrange(100)),
        "delete": (isolate, listed),
        "subscribe": (isolate, listed, chance.choice(("txt", *FORMATS[listed]))),
        "change": (source,),
        "mood": (source, chance.choice(moods), chance.choice((60.0, 600.0))),
        "crash worker": (isolate,),
        "cron": (isolate,),
        "crash object": (chance.choice(OBJECTS),),
        "set clock": (
            chance.choice((isolate, isolate, SWEEPER)),
            chance.choice((1.0, 30.0, 3600.0)) * chance.choice((1, -1)),
        ),
    }
    return arguments.get(name, ())


class CompilerWorld:
    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.sources = Sources(simulation)
        self.platform = CompilerPlatform(simulation, self.sources.serve)
        self.jobs = Jobs(simulation, self.platform)
        self.lists = Lists(simulation, self.platform)
        self.platform.r2.on_put = self.lists.check_put

    async def start(self) -> None:
        """Begin with empty stores."""

    async def act(self, action: Action) -> None:
        await getattr(self, f"_{action.name.replace(' ', '_')}")(*action.arguments)
        self.jobs.check_settled()

    async def calm(self) -> None:
        self.sources.moods.clear()
        await CalmChecks(self.simulation, self.platform, self.sources, self.jobs, self.lists, self._cron).run()

    # Clients

    async def _submit(self, kind: str, number: int, sources: tuple[int, ...], client: int, *sent: int) -> None:
        """Send a request, with or without a key, and send it again: at the same time, and later."""
        keyed, sends = bool(sent[0]), sent[1]
        tag, ip = f"job {number}", f"192.0.2.{client + 1}"
        large = kind == "async" and number % 5 == 0
        wanted = OWN if large else sources

        async def send(at: int) -> bool:
            isolate = ISOLATES[(number + at) % len(ISOLATES)]
            answer = await self.jobs.submit(isolate, kind, tag, wanted, ip, keyed=keyed, large=large)
            return answer is not None and answer.status == 202

        results = await asyncio.gather(*(send(at) for at in range(sends)))
        if not all(results) or sends > 2:
            await asyncio.sleep(self.simulation.chance.delays.random() * 90)
            await send(sends)

    async def _compile(self, isolate: str, client: int, sources: tuple[int, ...]) -> None:
        body = {"configuration": {"name": "shared", "sources": [{"source": SOURCES[at]} for at in sources]}}
        ip = f"192.0.2.{client + 101}"
        answer = await self.platform.request(isolate, "POST", "/compile", body, ip=ip, accept="text/plain")
        if answer is not None and answer.status == 200:
            self.jobs.check_list(answer.body.decode(), sources, f"POST /compile {sources}")

    async def _cancel(self, isolate: str, choice: int) -> None:
        if known := list(self.jobs.accepted):
            await self.jobs.cancel(isolate, known[choice % len(known)])

    async def _show(self, isolate: str, choice: int) -> None:
        if known := list(self.jobs.accepted):
            await self.jobs.show(isolate, known[choice % len(known)])

    async def _flood(self) -> None:
        await self.jobs.flood(ISOLATES, "192.0.2.200")

    # The operator and subscribers

    async def _put(self, isolate: str, name: str, sources: tuple[int, ...], key: str) -> None:
        for _ in range(2 if key else 1):
            await self.lists.put(isolate, name, sources, key)

    async def _rebuild(self, isolate: str, name: str, key: str) -> None:
        for _ in range(2 if key else 1):
            await self.lists.rebuild(isolate, name, key)

    async def _roll_back(self, isolate: str, name: str, choice: int) -> None:
        if versions := await self.lists.load_versions(isolate, name):
            await self.lists.roll_back(isolate, name, versions[choice % len(versions)])

    async def _delete(self, isolate: str, name: str) -> None:
        await self.lists.delete(isolate, name)

    async def _subscribe(self, isolate: str, name: str, extension: str) -> None:
        await self.lists.read(isolate, name, extension)

    # The world

    async def _change(self, number: int) -> None:
        self.sources.versions[SOURCES[number]] += 1

    async def _mood(self, number: int, mood: str, seconds: float) -> None:
        self.sources.moods[SOURCES[number]] = mood, self.simulation.loop.time() + seconds

    async def _crash_worker(self, isolate: str) -> None:
        self.simulation.crash(self.platform.isolate(isolate).process, "by plan")

    async def _crash_object(self, kind: str) -> None:
        objects = self.platform.objects[kind]
        for name in list(objects.hosts):
            objects.crash(name)

    async def _restart(self) -> None:
        self.platform.restart()

    async def _set_clock(self, name: str, by_s: float) -> None:
        """Move the clock of an isolate, or that of the sweeper, if it lives."""
        is_isolate = name in ISOLATES
        process = self.platform.isolate(name).process if is_isolate else self.platform.objects[name].process("jobs")
        if process is not None:
            process.skew_s += by_s

    async def _cron(self, isolate: str) -> None:
        """Run the crons of this hour, some of them late, or once more."""
        hour = int(EPOCH_S + self.simulation.loop.time()) // 3600
        await self.platform.run_cron(isolate, "0 * * * *", hour * 3_600_000)
        if hour % 6 == 0:
            await self.platform.run_cron(isolate, WARMING_CRON, hour * 3_600_000)


COMPILER: Final = Scenario("compiler", plan, CompilerWorld)
