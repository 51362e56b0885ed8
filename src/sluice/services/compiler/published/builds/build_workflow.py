"""PublishedListWorkflow: one build of one list. Its steps continue after a crash, and a build waits for the one before it.

Rows in D1 say what a list is and which version is published. Bytes are in R2: one object for each address, the last 30
versions, patches, and the last good copies of sources. A build passes keys from step to step: it waits for its turn (a
lease in D1), reads the sources, compiles only if a source or the definition has changed, makes every format, and puts
each into its place.

The number of a version belongs to one build, so a build that dies never lends it to other bytes. A version is a change
of rules or of state. The reason in the header stays that of the version, or every build of a failing source would be a
new one. A rollback stays until a source changes; where its rules stood in the sources is not known any more. A
published list never blocks the hosts of its own sources.

A list of 330,000 lines takes a heap that must stay below 100 MB, so a build holds one thing at a time: sources are kept
compressed, a format is written line by line, patches are found on hashes of lines, a part of them at a time, and where
rules stand is found by reading the sources a second time, one after another, instead of tracing the compilation.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypedDict

from sluice.core.compiler.published.versions import BuildOutcome, ListState, SourceState
from sluice.core.errors import SluiceError, TooManyRequests
from sluice.core.json_text import encode_json
from sluice.core.ports import Clock, Database, DatabaseRow, Log
from sluice.core.timestamps import Timestamp, iso
from sluice.services.compiler.ports import Result, Steps
from sluice.services.compiler.published.builds.alerts import ListAlerts, StateChange
from sluice.services.compiler.published.builds.build_queue import HOLDS, BuildQueue
from sluice.services.compiler.published.builds.build_steps import BuildDecision, BuildSteps, TakenSources, list_formats
from sluice.services.compiler.published.builds.publisher import VersionPublisher
from sluice.services.compiler.published.list_store import ListStore, SourceNotes
from sluice.services.compiler.workflows.step_runner import StepPolicy, StepRunner

QUICK: Final = StepPolicy(5, 2, "exponential", 60)
FETCH: Final = StepPolicy(2, 5, "exponential", 1800)
LONG: Final = StepPolicy(2, 5, "exponential", 600)
ALERT: Final = StepPolicy(3, 5, "exponential", 60)
_SHOW_STATE: Final = f"update published_lists set state = ?, reason = ?, sources = ? where name = ? and {HOLDS}"  # noqa: S608 - only constants
_END: Final = """
update published_builds set ended_ms = ?, outcome = ?, reason = ?, definition = null where id = ? and ended_ms is null
"""
_MAX_WAITS: Final = 300
_MAX_WAIT_S: Final = 30.0

Arguments = ParamSpec("Arguments")


class BuildResult(TypedDict):
    outcome: BuildOutcome
    reason: str


class BuildFacts(TypedDict):
    id: str
    startedAt: Timestamp
    endedAt: Timestamp | None
    outcome: BuildOutcome | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedListWorkflow:
    lists: ListStore
    builds: BuildQueue
    steps: BuildSteps
    publisher: VersionPublisher
    alerts: ListAlerts
    database: Database
    clock: Clock
    log: Log

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> BuildResult:
        """Build the list once no other build of it runs. Return the outcome."""
        name, build_id, rollback_to = params["list"], workflow_id, params.get("rollbackTo")
        runner = StepRunner(steps)
        if "waitS" in params:
            await runner.sleep("own-minute", params["waitS"])
            await self._do(runner, "queue", QUICK, self._queue, name, build_id)
        if not await self._wait_for_turn(runner, name, build_id):
            return {"outcome": BuildOutcome.FAILED, "reason": "the list was deleted, or builds before it do not end"}
        sources: TakenSources | None = None
        try:
            if rollback_to is None:
                taken = await self._do(runner, "fetch-sources", FETCH, self.steps.fetch_sources, name, build_id)
                sources = taken
                decided = await self._do(runner, "compile", LONG, self.steps.compile, name, build_id, taken)
            else:
                decided = await self._do(runner, "restore", LONG, self.steps.restore, name, build_id, rollback_to)
            outcome = await self._publish(runner, name, build_id, sources, decided)
            reason = _explain_outcome(outcome, decided)
        except SluiceError as error:
            outcome, reason = BuildOutcome.FAILED, f"{runner.current_step}: {error}"
        await self._do(runner, "end", QUICK, self._end, name, build_id, outcome, reason, sources)
        await self._attempt(runner, "clean-up", self.clean_up, name, build_id)
        await self._attempt(runner, "alert", self._alert)
        self.log.event("list.built", list=name, build=build_id, outcome=outcome, reason=reason)
        return {"outcome": outcome, "reason": reason}

    async def _wait_for_turn(self, runner: StepRunner, name: str, build_id: str) -> bool:
        for attempt in range(_MAX_WAITS):
            state = await self._do(runner, f"claim-{attempt + 1}", QUICK, self._claim, name, build_id)
            if state != "waiting":
                return bool(state == "claimed")
            await runner.sleep(f"wait-{attempt + 1}", min(_MAX_WAIT_S, 1.0 + attempt))
        return False

    async def _queue(self, name: str, build_id: str) -> None:
        """Queue a scheduled build; while many wait, or after the list was deleted, there need not be one more."""
        with suppress(TooManyRequests):
            await self.builds.add(name, build_id)

    async def _claim(self, name: str, build_id: str) -> str:
        if await self.builds.claim(name, build_id):
            known = await self.lists.load_for_build(name, build_id)
            await self.publisher.reserve_addresses(name, list_formats(known.definition))
            return "claimed"
        row = await self.builds.find(build_id)
        return "waiting" if row and row["ended_ms"] is None else "gone"

    async def _publish(
        self, runner: StepRunner, name: str, build_id: str, sources: TakenSources | None, decided: BuildDecision
    ) -> BuildOutcome:
        outcome = BuildOutcome(decided["outcome"])
        if outcome is not BuildOutcome.PUBLISHED:
            return outcome
        notes: SourceNotes
        if sources:
            notes = sources
        else:
            notes = await self._do(runner, "read-published", QUICK, self._read_published, name)
        facts = await self._do(runner, "write-text", LONG, self.publisher.write_text, name, build_id, notes, decided)
        names = await self._do(runner, "list-formats", QUICK, self._list_formats, name, build_id)
        formats = [
            await self._do(runner, f"write-{one}", LONG, self.publisher.write_format, name, build_id, one, facts)
            for one in names
        ]
        await self._do(runner, "change-addresses", LONG, self.publisher.change_addresses, name, build_id, names)
        await self._do(runner, "record", QUICK, self.publisher.record, name, build_id, facts, formats)
        return outcome

    async def _read_published(self, name: str) -> SourceNotes:
        """Return the notes and the state of the published version, which a rollback keeps."""
        published = (await self.lists.load(name)).published
        return {
            "input": published["input"],
            "signature": published["signature"],
            "notes": published["notes"],
            "state": published["state"],
        }

    async def _list_formats(self, name: str, build_id: str) -> list[str]:
        return list_formats((await self.lists.load_for_build(name, build_id)).definition)

    async def _end(
        self, name: str, build_id: str, outcome: BuildOutcome, reason: str, sources: TakenSources | None
    ) -> None:
        """End the build, store its sources and the state, and note the alert, all in one step."""
        known = await self.lists.find(name)
        row = await self.builds.find(build_id)
        if known is None or row is None or row["ended_ms"] is not None:
            return
        is_good = outcome in {BuildOutcome.PUBLISHED, BuildOutcome.UNCHANGED}
        known_state = sources["state"] if sources else known.published.get("state", ListState.FRESH)
        state = known_state if is_good else ListState.FAILED
        shown = encode_json(sources["sources"]) if sources else encode_json(known.sources)
        bad = [source for source in sources["sources"] if source["state"] != SourceState.OK] if sources else []
        facts: StateChange = {"state": state, "buildId": build_id, "reason": reason, "sources": bad}
        now_ms = round(self.clock.now() * 1000)
        await self.database.batch(
            [
                (_SHOW_STATE, (state, reason or None, shown, name, build_id)),
                *self.alerts.open(known, build_id, state == ListState.FRESH, facts),
                # Last: the others are only done for a build that has not ended.
                (_END, (now_ms, outcome, reason or None, build_id)),
            ]
        )

    async def clean_up(self, name: str, build_id: str) -> None:
        known = await self.lists.find(name)
        if known is None:  # it was deleted while this build wrote
            await self.publisher.remove_all(name, build_id)
            return
        await self.publisher.remove_unused(name, build_id)
        configuration = known.definition.configuration
        parts = (configuration, *configuration.sources)
        files = [file for part in parts for file in part.pattern_files]
        await self.steps.copies.remove_unused(name, [*(source.source for source in configuration.sources), *files])

    async def _alert(self) -> None:
        await self.alerts.deliver()

    async def _do(
        self,
        runner: StepRunner,
        step: str,
        policy: StepPolicy,
        work: Callable[Arguments, Awaitable[Result]],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        async def run_step() -> Result:
            return await work(*arguments, **named)

        return await runner.do(step, policy, run_step)

    async def _attempt(
        self,
        runner: StepRunner,
        step: str,
        work: Callable[Arguments, Awaitable[None]],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> None:
        """Do work that a later build repeats if it fails now."""
        try:
            await self._do(runner, step, ALERT, work, *arguments, **named)
        except SluiceError as error:
            self.log.error("list.step_failed", error, step=step)


def _explain_outcome(outcome: BuildOutcome, decided: BuildDecision) -> str:
    if outcome is BuildOutcome.REFUSED:
        return f"the list would have {decided['ruleCount']:,} rules, fewer than minRules allows: the old version stays"
    return ""


def describe_build(row: DatabaseRow | None) -> BuildFacts | None:
    """Return a build as readers see it."""
    if row is None:
        return None
    return {
        "id": row["id"],
        "startedAt": iso(row["started_ms"] / 1000),
        "endedAt": None if row["ended_ms"] is None else iso(row["ended_ms"] / 1000),
        "outcome": row["outcome"],
        "reason": row["reason"],
    }
