"""The shortest history of a failure: runs again with fewer actions and fewer faults, for as long as the same check fails."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from simulation.simulation import Action, Report, Scenario, run_seed

Item = TypeVar("Item")


def shrink(scenario: Scenario, report: Report, *, budget_s: float = 60.0) -> Report:
    """Return the smallest run found in the time that violates the same check."""
    if report.violation is None:
        return report
    check, until = report.violation.check, time.monotonic() + budget_s
    best = report

    def attempt(actions: Sequence[Action], faults: Sequence[str]) -> Report | None:
        nonlocal best
        # What is left out shifts everything after it a little, so a few other orders are tried.
        for schedule in range(3):
            if time.monotonic() > until:
                return None
            found = run_seed(scenario, report.seed, actions=actions, faults=set(faults), schedule=schedule)
            if found.violation and found.violation.check == check:
                best = found
                return found
        return None

    # What comes after the failure has no part in it.
    attempt([each for each in best.actions if each.at <= best.elapsed_s], [each.name for each in best.faults])
    size = len(best.actions) + len(best.faults)
    while time.monotonic() < until:
        _reduce(best.actions[1:], lambda kept: attempt([best.actions[0], *kept], [each.name for each in best.faults]))
        _reduce([each.name for each in best.faults], lambda kept: attempt(best.actions, kept))
        if len(best.actions) + len(best.faults) >= size:
            break
        # What comes after the failure has no part in it.
    attempt([each for each in best.actions if each.at <= best.elapsed_s], [each.name for each in best.faults])
    size = len(best.actions) + len(best.faults)
    return best


def _reduce(items: Sequence[Item], attempt: Callable[[Sequence[Item]], Report | None]) -> Sequence[Item]:
    """Return the items without those that are not needed: halves first, then smaller parts."""
    kept, parts = list(items), 2
    while kept:
        size = max(1, -(-len(kept) // parts))
        for at in range(0, len(kept), size):
            rest = kept[:at] + kept[at + size :]
            if attempt(rest) is not None:
                kept, parts = rest, max(2, parts - 1)
                break
        else:
            if size == 1:
                return kept
            parts = min(len(kept), parts * 2)
    return kept
