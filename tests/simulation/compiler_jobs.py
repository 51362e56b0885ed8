"""The model of jobs and workflows: what was accepted ends once, and equal requests with one key are one job."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from simulation.compiler_sources import NotWhole, read_versions, write_source
from simulation.compiler_world import RATE_LIMIT, SOURCES, Answer, CompilerPlatform
from simulation.simulation import Simulation

WORKFLOWS = {"workflow": "compilation", "workflow batch": "batch-compilation"}
PATHS = {
    "async": "/compile/async",
    "async batch": "/compile/batch/async",
    "workflow": "/workflow/compile",
    "workflow batch": "/workflow/batch",
}
OWN = (0,)  # the source whose rules callers send themselves
OVER = {"completed", "failed", "cancelled"}


def configure(name: str, sources: tuple[int, ...]) -> dict[str, Any]:
    return {"name": name, "sources": [{"source": SOURCES[number]} for number in sources]}


def write_body(kind: str, tag: str, sources: tuple[int, ...], *, large: bool = False) -> dict[str, Any]:
    if kind.endswith("batch"):
        items = [{"id": f"i{at}", "configuration": configure(f"{tag} {at}", (at,))} for at in sources]
        return {"requests": items}
    if not large:
        return {"configuration": configure(tag, sources)}
    own = write_source(OWN[0], 1).decode() + "! padding\n" * 11_000
    return {"configuration": {"name": tag, "sources": [{"source": "own.txt"}]}, "preFetchedContent": {"own.txt": own}}


@dataclass
class Jobs:
    simulation: Simulation
    platform: CompilerPlatform
    # Each accepted job or workflow: its kind, tag and sources.
    accepted: dict[str, tuple[str, str, tuple[int, ...]]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)  # by tag
    sends: Counter[tuple[str, str]] = field(default_factory=Counter)  # by kind and tag
    keyed: set[str] = field(default_factory=set)
    cancelled: set[str] = field(default_factory=set)

    async def submit(
        self, isolate: str, kind: str, tag: str, sources: tuple[int, ...], ip: str, *, keyed: bool, large: bool = False
    ) -> Answer | None:
        body = write_body(kind, tag, sources, large=large)
        self.sends[kind, tag] += 1
        if keyed:
            self.keyed.add(tag)
        answer = await self.platform.request(
            isolate, "POST", PATHS[kind], body, ip=ip, key=f"key {tag}".replace(" ", "-") if keyed else ""
        )
        if answer is None or answer.status != 202:
            expected = answer is None or answer.status in {429, 500, 502, 503, 504}
            self.simulation.require(expected, "a job is accepted or refused for now", answer)
            return answer
        request_id = answer.json["workflowId" if kind in WORKFLOWS else "requestId"]
        self.accepted[request_id] = kind, tag, sources
        known = self.ids.setdefault(tag, set())
        known.add(request_id)
        is_one = not keyed or len(known) == 1
        self.simulation.require(is_one, "one key starts one job", f"{tag}: {known}")
        return answer

    async def cancel(self, isolate: str, request_id: str) -> None:
        answer = await self.platform.request(isolate, "DELETE", f"/queue/cancel/{request_id}")
        if answer is not None and answer.status == 200:
            self.cancelled.add(request_id)
        is_known = answer is None or answer.status != 404 or self.accepted[request_id][0] in WORKFLOWS
        self.simulation.require(is_known, "an accepted job is known", f"{request_id}: {answer}")

    async def show(self, isolate: str, request_id: str) -> None:
        kind, _, sources = self.accepted[request_id]
        answer = await self.platform.request(isolate, "GET", f"/queue/results/{request_id}", accept="text/plain")
        if answer is None or answer.status >= 500:
            return
        self.simulation.require(answer.status == 200, "an accepted job is known", f"{request_id}: {answer}")
        if answer.headers.get("content-type", "").startswith("text/plain") and not kind.endswith("batch"):
            self.check_list(answer.body.decode(), sources, request_id)

    def check_list(self, text: str, sources: tuple[int, ...], what: str) -> None:
        try:
            found = set(read_versions(text))
        except NotWhole as error:
            self.simulation.require(False, "a compiled list holds whole sources", f"{what}: {error}")
        else:
            holds = found == set(sources)
            self.simulation.require(holds, "a compiled list holds its sources", f"{what}: {found}, not {sources}")

    async def flood(self, isolates: tuple[str, ...], ip: str) -> None:
        """Send three times as much as a window allows; the bodies are empty, but each counts."""
        began_at, degraded = self.simulation.loop.time(), self.platform.log.lines["rate_limit.degraded"]
        sends = [
            self.platform.request(isolates[at % len(isolates)], "POST", PATHS["async"], {}, ip=ip)
            for at in range(3 * RATE_LIMIT)
        ]
        answers = await asyncio.gather(*sends)
        served = [each for each in answers if each is not None and each.status != 429]
        is_exact = self.platform.log.lines["rate_limit.degraded"] == degraded
        windows = 1 + (self.simulation.loop.time() - began_at) // 60 + 1
        holds = not is_exact or len(served) <= RATE_LIMIT * windows
        self.simulation.require(holds, "the rate limit holds", f"{len(served)} requests in {windows} windows")

    # What must hold in the end

    def rows(self) -> list[dict[str, Any]]:
        return self.platform.d1.rows("select * from compile_jobs")

    def is_idle(self) -> bool:
        return all(row["state"] in OVER for row in self.rows())

    def check_settled(self) -> None:
        settled = self.platform.d1.rows("select * from simulated_settled")
        self.simulation.require(not settled, "a job is settled once", settled)
        twice = {each: times for each, times in self.platform.log.done.items() if times > 1}
        self.simulation.require(not twice, "a job is done once", twice)

    def check_end(self) -> None:
        require = self.simulation.require
        rows = {row["request_id"]: row for row in self.rows()}
        letters = Counter(row["request_id"] for row in self.platform.d1.rows("select * from dead_letters"))
        for request_id, (kind, tag, _) in self.accepted.items():
            if kind in WORKFLOWS:
                self._check_workflow(request_id, kind)
                continue
            row = rows.get(request_id)
            require(row is not None, "an accepted job is stored", f"{kind} {tag} {request_id}")
            if row is None:
                continue
            require(row["state"] in OVER, "an accepted job ends", row)
            if row["state"] == "failed":
                require(bool(row["error"]), "a job fails with a reason", row)
                require(letters[request_id] >= 1, "a failed job leaves a letter", row)
            is_kept = row["state"] == "cancelled" or request_id not in self.cancelled
            require(is_kept, "a cancelled job stays cancelled", row)
        self._check_numbers(list(rows.values()))
        self.check_settled()

    def _check_workflow(self, workflow_id: str, kind: str) -> None:
        instance = self.platform.workflows[WORKFLOWS[kind]].instances.get(workflow_id)
        text = f"{workflow_id}: {instance}"
        self.simulation.require(instance is not None, "an accepted workflow exists", text)
        if instance is None:
            return
        self.simulation.require(instance.state == "complete", "an accepted workflow ends", text)
        output = instance.output or {}
        has_reason = bool(output.get("success") or output.get("error") or output.get("failed"))
        self.simulation.require(has_reason or kind == "workflow batch", "a workflow fails with a reason", text)

    def _check_numbers(self, rows: list[dict[str, Any]]) -> None:
        """Check that nothing was started that nobody asked for, and one thing for each key."""
        started = Counter({"async": 0, "async batch": 0})
        started.update("async" if row["kind"] == "compile" else "async batch" for row in rows)
        for kind, workflow in WORKFLOWS.items():
            ids = self.platform.workflows[workflow].instances
            started[kind] = len(ids)
        for kind, number in started.items():
            asked = sum(1 if tag in self.keyed else times for (one, tag), times in self.sends.items() if one == kind)
            text = f"{kind}: {number} started, {asked} asked for"
            self.simulation.require(number <= asked, "nothing starts more often than asked for", text)
        named = Counter(row["config_name"] for row in rows if row["kind"] == "compile")
        twice = {tag: number for tag, number in named.items() if number > 1 and tag in self.keyed}
        self.simulation.require(not twice, "one key starts one job", twice)

    async def check_stats(self, isolate: str) -> None:
        """Check the statistics against what is stored and what was accepted."""
        answer = await self.platform.request(isolate, "GET", "/queue/stats")
        self.simulation.require(answer is not None and answer.status == 200, "the statistics answer", answer)
        if answer is None or answer.status != 200:
            return
        shown, rows = answer.json, self.rows()
        states = Counter(row["state"] for row in rows)
        counted = {state: shown[state] for state in sorted(OVER)}
        right = {state: states[state] for state in sorted(OVER)}
        self.simulation.require(counted == right, "the statistics count the jobs", f"{counted}, not {right}")
        total = shown["pending"] + shown["processing"] + sum(counted.values())
        self.simulation.require(total == shown["enqueued"] == len(rows), "the statistics add up", shown)
        depths = [each["depth"] for each in shown["depthHistory"]]
        self.simulation.require(not depths or depths[-1] == 0, "no job is left over in the depth", depths)
