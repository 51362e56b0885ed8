"""What everybody does in a run of the preloader: visitors, editors, operators, the cron, and what happens to machines."""

from random import Random
from typing import Any, Final

from simulation.preload_world import ISOLATES
from simulation.simulation import Action

JUMPS_S: Final = (1.0, 30.0, 3600.0, 86_400.0)  # by how far a clock is set, forward or back
PATHS: Final = ("/home", "/a", "/b/1", "/b/2", "/c")
LENGTHS_S: Final = (60.0, 300.0, 1200.0)
_WEIGHTS: Final = {
    "visit": 30,
    "publish": 12,
    "edit": 3,
    "preload": 12,
    "enqueue": 3,
    "repeat": 3,
    "pause": 1,
    "configure": 2,
    "cancel": 1,
    "replay failed": 1,
    "delete failed": 1,
    "check origin": 1,
    "unregister": 0.3,
    "purge by hand": 2,
    "crash isolate": 2,
    "crash zone": 3,
    "set clock": 1,
    "origin": 4,
    "evict": 1,
}


def plan(chance: Random) -> list[Action]:
    """Return what everybody does: the first action fixes the zone, the cron comes each minute."""
    length_s = chance.choice(LENGTHS_S)
    actions = [
        Action(at * 60.0 + chance.choice((0, 0, 0, 5, 40)), "cron")
        for at in range(int(length_s // 60) + 1)
        for _ in range(chance.choice((0, 1, 1, 1, 1, 2)))
    ]
    weights = {name: weight * chance.choice((0, 0.3, 1, 1, 3)) for name, weight in _WEIGHTS.items()}
    weights["visit"] += 5
    names = chance.choices(list(weights), list(weights.values()), k=chance.choice((15, 40, 90)))
    bursts = [chance.uniform(0, length_s) for _ in range(6)]
    for name in names:
        at = chance.choice(bursts) + chance.uniform(0, 3) if chance.random() < 0.6 else chance.uniform(0, length_s)
        actions.append(Action(round(at, 3), name, _choose_arguments(name, chance)))
    return [Action(0.0, "settings", (chance.getrandbits(32),)), *sorted(actions)]


def _choose_arguments(name: str, chance: Random) -> tuple[Any, ...]:
    some = tuple(sorted(chance.sample(PATHS, chance.randint(1, len(PATHS)))))
    match name:
        case "visit":
            return chance.choice(ISOLATES), chance.choice(PATHS)
        case "publish" | "purge by hand":
            scope = chance.choice(("urls", "tags", "prefixes", "global"))
            return chance.choice(ISOLATES), scope, some[: chance.choice((1, 1, 2, 5))], chance.random() < 0.2
        case "edit":
            return (chance.choice(PATHS),)
        case "preload" | "enqueue":
            return chance.choice(ISOLATES), some
        case "configure":
            return chance.choice(ISOLATES), chance.getrandbits(32)
        case "crash isolate":
            return (chance.choice(ISOLATES),)
        case "set clock":
            who = chance.choice((*ISOLATES, "zone"))
            return who, chance.choice(JUMPS_S) * chance.choice((1, -1))
        case "origin":
            mood = chance.choice(("fine", "down", "busy", "slow", "hangs", "missing", "fine"))
            return mood, chance.choice(PATHS + ("*",) * 5), chance.choice((5.0, 30.0, 120.0))
        case _:
            return (chance.choice(ISOLATES),)
