"""The model of published lists: an address is always one whole version, and never goes back but by a rollback."""

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulation.compiler_sources import NotWhole, read_versions
from simulation.compiler_world import SOURCES, Answer, CompilerPlatform
from simulation.simulation import Simulation
from sluice.core.compiler.header import compute_checksum

FORMATS = {"alpha": ["hosts"], "beta": []}
ADDRESSES = "published/at/"
# A build that is under way may write for a little while after its list was deleted.
DELETED_LATE_S = 120.0
NEVER = -1e9


@dataclass(frozen=True)
class Seen:
    version: int = 0
    sources: Mapping[int, int] = field(default_factory=dict)


@dataclass
class ListModel:
    """What is known of one list."""

    name: str
    generation: int = 0  # counts deletions
    deleted_at: float = NEVER
    is_gone: bool = False  # or may be: a removal that was cut off leaves what readers still get
    is_rolled_back: bool = False
    definitions: set[frozenset[int]] = field(default_factory=set)
    seen: dict[str, Seen] = field(default_factory=dict)
    texts: dict[tuple[int, str, int], str] = field(default_factory=dict)

    def forget(self, now: float) -> None:
        self.generation, self.deleted_at = self.generation + 1, now
        self.seen.clear()


@dataclass
class Lists:
    simulation: Simulation
    platform: CompilerPlatform
    models: dict[str, ListModel] = field(default_factory=lambda: {name: ListModel(name) for name in FORMATS})
    keys: dict[str, set[str]] = field(default_factory=dict)
    put_in: dict[str, int] = field(default_factory=dict)  # the generation in which an address was written

    def check_put(self, key: str, before: Any, after: Any) -> None:
        """Check what is written at an address: a whole version, and none that is older than what is there."""
        if not key.startswith(ADDRESSES):
            return
        version, last = (int(one.customMetadata.get("version", 0)) if one else 0 for one in (after, before))
        generation = self.models[key.removeprefix(ADDRESSES).partition(".")[0]].generation
        # What a removal has left that was cut off is not of the list that has the name now.
        is_same_list = self.put_in.get(key) == generation
        self.put_in[key] = generation
        text = f"{key}: {last}, then {version}"
        self.simulation.require(not is_same_list or version >= last, "no older version is put at an address", text)
        if not version:
            return
        try:
            sources = read_versions(zlib.decompress(after._content, wbits=31).decode())
        except (NotWhole, zlib.error) as error:
            self.simulation.require(False, "a whole version is put at an address", f"{key}: {error}")
        else:
            self.simulation.require(bool(sources), "a whole version is put at an address", key)

    # What the operator does

    async def put(self, isolate: str, name: str, sources: tuple[int, ...], key: str = "") -> Answer | None:
        model = self.models[name]
        model.definitions.add(frozenset(sources))
        if was_gone := model.is_gone:
            model.forget(self.simulation.loop.time())
        configuration = {"name": name.title(), "sources": [{"source": SOURCES[number]} for number in sources]}
        body = {"configuration": configuration, "formats": FORMATS[name], "schedule": "0 * * * *"}
        answer = await self.platform.request(isolate, "PUT", f"/lists/{name}", body, key=key, operator=True)
        if was_gone:
            model.forget(self.simulation.loop.time())
        if answer is not None and answer.status in {201, 202}:
            model.is_gone = False
        return self._note_build(answer, f"put {name} {key}" if key else "")

    async def rebuild(self, isolate: str, name: str, key: str = "") -> Answer | None:
        path = f"/lists/{name}/rebuild"
        answer = await self.platform.request(isolate, "POST", path, key=key, operator=True)
        return self._note_build(answer, f"rebuild {name} {key}" if key else "")

    async def roll_back(self, isolate: str, name: str, version: int, key: str = "") -> Answer | None:
        self.models[name].is_rolled_back = True
        path, body = f"/lists/{name}/rollback", {"version": version}
        answer = await self.platform.request(isolate, "POST", path, body, key=key, operator=True)
        return self._note_build(answer, f"roll back {name} {key}" if key else "")

    async def delete(self, isolate: str, name: str) -> Answer | None:
        model = self.models[name]
        model.is_gone = True
        model.forget(self.simulation.loop.time())
        answer = await self.platform.request(isolate, "DELETE", f"/lists/{name}", operator=True)
        model.is_gone = True
        model.forget(self.simulation.loop.time())
        return answer

    def _note_build(self, answer: Answer | None, key: str) -> Answer | None:
        if answer is None or answer.status not in {201, 202}:
            return answer
        build_id = answer.json["buildId"]
        if key:
            known = self.keys.setdefault(key, set())
            known.add(build_id)
            self.simulation.require(len(known) == 1, "one key starts one build", f"{key}: {known}")
        return answer

    # What subscribers see

    async def read(self, isolate: str, name: str, extension: str) -> Seen | None:
        """Return what an address shows; None if it shows nothing, or may be about to be deleted."""
        model, require = self.models[name], self.simulation.require
        generation, floor = model.generation, model.seen.get(extension)
        answer = await self.platform.request(isolate, "GET", f"/lists/{name}.{extension}", accept="text/plain")
        if answer is None or (answer.status >= 500 and b"Not built yet" not in answer.body):
            return None
        text = answer.body.decode()
        is_stable = generation == model.generation and self.simulation.loop.time() > model.deleted_at + DELETED_LATE_S
        if answer.status != 200:
            require(answer.status in {404, 503}, "an address answers", f"{name}.{extension}: {answer}")
            is_lost = is_stable and floor is not None
            require(not is_lost, "an address is never empty again", f"{name}.{extension}: {floor}, then {answer}")
            return None
        seen = self._check_text(model, extension, text)
        if not is_stable:
            return None
        self._check_order(model, extension, floor, seen)
        self._check_same(model, extension, seen.version, text)
        latest = model.seen.get(extension)
        if latest is None or latest.version <= seen.version:
            model.seen[extension] = seen
        return seen

    def _check_text(self, model: ListModel, extension: str, text: str) -> Seen:
        require, what = self.simulation.require, f"{model.name}.{extension}"
        try:
            sources = read_versions(text)
        except NotWhole as error:
            require(False, "an address holds whole sources", f"{what}: {error}")
            return Seen()
        require(bool(sources), "an address is never empty", f"{what}: {text[:500]}")
        if extension == "txt":
            checksum, _, rest = text.partition("\n")
            is_right = checksum == f"! Checksum: {compute_checksum(rest.split(chr(10)))}"
            require(is_right, "the checksum is right", f"{what}: {text[:200]}")
            rules = [line for line in text.splitlines() if line and not line.startswith("!")]
            stated = _find(r"^! Number of entries: (\d+)", text)
            require(stated == len(rules), "the header counts the rules", f"{what}: {stated} of {len(rules)}")
            is_fresh = "! State: fresh" in text and not model.is_rolled_back
            is_defined = any(
                set(sources) == set(each) if is_fresh else set(sources) <= each for each in model.definitions
            )
            require(is_defined, "a list holds the sources of a definition", f"{what}: {sources} {model.definitions}")
        for number, version in sources.items():
            require(version >= 1, "a source's version is there", f"{what}: {number} {version}")
        return Seen(_find(r"^[!#] Version: (\d+)", text), sources)

    def _check_order(self, model: ListModel, extension: str, floor: Seen | None, seen: Seen) -> None:
        if floor is None:
            return
        what = f"{model.name}.{extension}: {floor}, then {seen}"
        self.simulation.require(seen.version >= floor.version, "an address never goes back", what)
        if not model.is_rolled_back:
            older = [at for at, version in seen.sources.items() if version < floor.sources.get(at, 0)]
            self.simulation.require(not older, "the sources of an address never go back", what)

    def _check_same(self, model: ListModel, extension: str, version: int, text: str) -> None:
        """Check that the number of a version belongs to one text."""
        if extension != "txt":
            return
        known = model.texts.setdefault((model.generation, extension, version), text)
        self.simulation.require(
            known == text, "a version is one text", lambda: f"{model.name} {version}: {known} {text}"
        )

    async def load_versions(self, isolate: str, name: str) -> list[int]:
        """Return the numbers of the last versions, the newest first."""
        answer = await self.platform.request(isolate, "GET", f"/lists/{name}/versions")
        found: list[Any] = answer.json["versions"] if answer and answer.status == 200 else []
        return [each["version"] for each in found]


def _find(pattern: str, text: str) -> int:
    found = re.search(pattern, text, re.MULTILINE)
    return int(found[1]) if found else 0
