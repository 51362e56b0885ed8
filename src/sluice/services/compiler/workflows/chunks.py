"""Many lists in chunks, a workflow step for each: a step that fails does not end the others."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from sluice.core.errors import SluiceError
from sluice.services.compiler.workflows.batch_items import ItemRunner, Outcomes
from sluice.services.compiler.workflows.step_runner import StepPolicy, StepRunner

# The progress of a run before its first chunk, in percent.
PREPARED: Final = 10


class ChunkPlan(NamedTuple):
    """How the ids of lists become steps; `done` is the progress after the last one, in percent."""

    prefix: str
    size: int
    policy: StepPolicy
    done: int
    pause_s: float = 0.0


# Takes the name of the step, the ids of its chunk and the progress after it.
ChunkWork = Callable[[str, Sequence[str], int], Awaitable[Outcomes]]


async def run_chunks(
    runner: StepRunner, plan: ChunkPlan, ids: Sequence[str], work: ChunkWork
) -> tuple[Outcomes, dict[str, str]]:
    """Run all chunks in turn; return the outcomes, and the errors of failed steps."""
    chunks = [ids[at : at + plan.size] for at in range(0, len(ids), plan.size)]
    known: Outcomes = {}
    failed_steps: dict[str, str] = {}
    for number, chunk in enumerate(chunks, 1):
        if number > 1 and plan.pause_s:
            await runner.sleep(f"pause-before-chunk-{number}", plan.pause_s)
        progress = PREPARED + round((plan.done - PREPARED) * number / len(chunks))
        step = f"{plan.prefix}-{number}"
        try:
            known |= await runner.do(step, plan.policy, partial(work, step, chunk, progress))
        except SluiceError as error:
            failed_steps[step] = str(error)
    return known, failed_steps


async def complete_outcomes(items: ItemRunner, owner: str, known: Outcomes, failed_steps: dict[str, str]) -> Outcomes:
    """Return the outcomes with those of failed steps: some of their lists may be compiled, and their rows say so."""
    recorded = await items.load_outcomes(owner) if failed_steps else {}
    return {item_id: outcome.as_json() for item_id, outcome in recorded.items()} | known
