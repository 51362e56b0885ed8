"""What must hold of the compiler once the faults have stopped."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from simulation.compiler_jobs import OWN, Jobs
from simulation.compiler_lists import FORMATS, NEVER, Lists
from simulation.compiler_sources import Sources, read_versions
from simulation.compiler_world import ISOLATES, SOURCES, CompilerPlatform
from simulation.engine import ENDED
from simulation.simulation import Simulation

CALM_MINUTES = 600
KEPT_DAYS = 8
ISOLATE = ISOLATES[0]
FINAL = (0, 2)  # the sources of every list in the end
# Where nothing stays of what was handed over.
PASSING = ("published/builds/", "jobs/", "handover/")


@dataclass
class CalmChecks:
    simulation: Simulation
    platform: CompilerPlatform
    sources: Sources
    jobs: Jobs
    lists: Lists
    run_cron: Callable[[str], Awaitable[None]]

    async def run(self) -> None:
        await asyncio.sleep(120)
        if not await self._drain():
            return
        self.jobs.check_end()
        await self.jobs.check_stats(ISOLATE)
        for request_id in list(self.jobs.accepted):
            await self.jobs.show(ISOLATE, request_id)
        await self._check_content()
        for name in FORMATS:
            await self._check_list(name)
        await self._check_deleted("beta")
        await self._check_storage()

    async def _drain(self) -> bool:
        """Wait until everything has ended that was begun."""
        for minute in range(CALM_MINUTES):
            if self._is_idle():
                return True
            await asyncio.sleep(60)
            if minute % 60 == 30:
                await self.run_cron(ISOLATE)
        self.simulation.violate("everything ends", str(self._list_unfinished())[:3000])
        return False

    def _list_unfinished(self) -> list[Any]:
        jobs = [row for row in self.jobs.rows() if row["finished_ms"] is None]
        builds = self.platform.d1.rows("select * from published_builds where ended_ms is null")
        running = [
            instance
            for workflows in self.platform.workflows.values()
            for instance in workflows.instances.values()
            if instance.state not in ENDED
        ]
        return [*jobs, *builds, *running]

    def _is_idle(self) -> bool:
        return not self._list_unfinished()

    async def _check_content(self) -> None:
        """Check that what a job's caller has sent is gone when the job has ended, and until then expires."""
        kept = [key for key in self.platform.r2.keys_now() if key.startswith("jobs/")]
        for key in kept:
            info = await self.platform.r2.head(key)
            text = f"{key}: {info.customMetadata}"
            self.simulation.require("expires_at" in info.customMetadata, "the content of a job expires", text)
        await asyncio.sleep(120)
        answer = await self.jobs.submit(ISOLATE, "async", "calm", OWN, "192.0.2.77", keyed=False, large=True)
        self.simulation.require(answer is not None and answer.status == 202, "a job is accepted in the end", answer)
        await self._drain()
        left = [key for key in self.platform.r2.keys_now() if key.startswith("jobs/") and key not in kept]
        self.simulation.require(not left, "the content of an ended job is deleted", left)

    # Lists

    async def _check_list(self, name: str) -> None:
        """Check that a list shows its sources, an older version after a rollback, and its sources again once they change."""
        await asyncio.sleep(180)
        if self.lists.models[name].is_rolled_back:
            self._change(FINAL[0])  # else the definition of before, put again, leaves the list rolled back
        await self._expect(await self.lists.put(ISOLATE, name, FINAL), name)
        self.lists.models[name].deleted_at = NEVER  # nothing is under way any more
        await self._check_shown(name, self.sources.find_versions(frozenset(FINAL)))
        for _ in range(2):
            self._change(FINAL[0])
            await self._expect(await self.lists.rebuild(ISOLATE, name), name)
            await self._check_shown(name, self.sources.find_versions(frozenset(FINAL)))
        versions = await self.lists.load_versions(ISOLATE, name)
        self.simulation.require(len(versions) >= 3, "the last versions are kept", versions)
        wanted = self._read_version(name, versions[1])
        await self._expect(await self.lists.roll_back(ISOLATE, name, versions[1]), name)
        await self._check_shown(name, wanted)
        await self._expect(await self.lists.rebuild(ISOLATE, name), name)
        await self._check_shown(name, wanted)
        self._change(FINAL[1])
        await self._expect(await self.lists.rebuild(ISOLATE, name), name)
        await self._check_shown(name, self.sources.find_versions(frozenset(FINAL)))

    def _change(self, number: int) -> None:
        self.sources.versions[SOURCES[number]] += 1

    def _read_version(self, name: str, version: int) -> dict[int, int]:
        """Return the sources of a version as its readers have seen it."""
        model = self.lists.models[name]
        return read_versions(model.texts[model.generation, "txt", version])

    async def _expect(self, answer: Any, name: str) -> None:
        is_accepted = answer is not None and answer.status in {201, 202}
        self.simulation.require(is_accepted, "the operator's request is accepted in the end", f"{name}: {answer}")
        if not is_accepted:
            return
        await self._drain()
        build_id = answer.json["buildId"]
        rows = self.platform.d1.rows(f"select * from published_builds where id = '{build_id}'")  # noqa: S608
        is_done = bool(rows) and rows[0]["outcome"] in {"published", "unchanged"}
        self.simulation.require(is_done, "a build succeeds in the end", f"{name} {build_id}: {rows}")

    async def _check_shown(self, name: str, wanted: dict[int, int]) -> None:
        shown = {one: await self.lists.read(ISOLATE, name, one) for one in ("txt", *FORMATS[name])}
        for extension, seen in shown.items():
            text = f"{name}.{extension}: {seen}, not {wanted}"
            is_right = seen is not None and seen.sources == wanted
            self.simulation.require(is_right, "an address shows what was built last", text)

    async def _check_deleted(self, name: str) -> None:
        answer = await self.lists.delete(ISOLATE, name)
        self.simulation.require(answer is not None and answer.status == 204, "a list can be deleted", answer)
        await self._drain()
        left = [key for key in self.platform.r2.keys_now() if f"/{name}" in key and key.startswith("published/")]
        self.simulation.require(not left, "nothing stays of a deleted list", left)

    # Storage

    async def _check_storage(self) -> None:
        """Check that a week later nothing is left of what has ended."""
        left = [key for key in self.platform.r2.keys_now() if key.startswith(PASSING[0])]
        self.simulation.counts["staged files left for the cron"] += len(left)
        await asyncio.sleep(KEPT_DAYS * 24 * 3600)
        for _ in range(2):
            await self.run_cron(ISOLATE)
            await self._drain()
            await asyncio.sleep(3600)
        left = [key for key in self.platform.r2.keys_now() if key.startswith(PASSING)]
        self.simulation.require(not left, "what was handed over goes away", left)
        for table in ("compile_jobs", "idempotency_keys", "dead_letters", "spent_fetches"):
            rows = self.platform.d1.rows(f"select * from {table}")  # noqa: S608
            self.simulation.require(not rows, "old rows go away", lambda: f"{table}: {rows}"[:2000])  # noqa: B023
