"""The sources of lists: each has versions, whose rules say which source, which version and which line they are of."""

import asyncio
import re
from collections import defaultdict
from dataclasses import dataclass, field

from simulation.compiler_world import SOURCES
from simulation.simulation import Simulation
from simulation.web import Arrival, Served

_RULE = re.compile(r"s(\d+)v(\d+)r(\d+)\.example")
_COMMENTS = ("!", "#")


@dataclass
class Sources:
    """Other people's servers: each answers with its newest version, slowly, wrongly or not at all."""

    simulation: Simulation
    versions: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SOURCES, 1))
    moods: dict[str, tuple[str, float]] = field(default_factory=dict)

    async def serve(self, arrival: Arrival) -> Served:
        url = arrival.request.url
        mood, until = self.moods.get(url, ("fine", 0.0))
        mood = mood if until > self.simulation.loop.time() else "fine"
        if url not in self.versions:
            return Served(404)
        body = write_source(SOURCES.index(url), self.versions[url])
        if mood == "down":
            return Served(503)
        if mood == "hangs":
            await asyncio.sleep(500)
        if mood == "page":
            body = b"<!DOCTYPE html><html><body>Sorry</body></html>"
        if mood == "empty":
            body = b""
        return Served(200, (("content-type", "text/plain"),), body, 8.0 if mood == "slow" else 0.05)

    def find_versions(self, numbers: frozenset[int]) -> dict[int, int]:
        return {number: self.versions[SOURCES[number]] for number in sorted(numbers)}


def count_rules(number: int, version: int) -> int:
    return 8 + (number * 7 + version * 3) % 5


def write_source(number: int, version: int) -> bytes:
    rules = [f"||s{number}v{version}r{at}.example^" for at in range(count_rules(number, version))]
    return "".join(f"{line}\n" for line in [f"! Title: source {number}", *rules]).encode()


class NotWhole(Exception):
    """A list holds a part of a source, or two versions of it."""


def read_versions(text: str) -> dict[int, int]:
    """Return which version of each source a list holds; raise NotWhole if one is not there as a whole."""
    found: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for line in text.splitlines():
        if line.startswith(_COMMENTS):
            continue
        for number, version, at in _RULE.findall(line):
            found[int(number)].add((int(version), int(at)))
    versions = {}
    for number, rules in sorted(found.items()):
        kinds = {version for version, _ in rules}
        if len(kinds) != 1 or len(rules) != count_rules(number, min(kinds)):
            raise NotWhole(f"source {number}: {sorted(rules)}")
        versions[number] = min(kinds)
    return versions
