"""A fixed set of seeds: the preloader keeps its promises through crashes, faults and every order of events."""

import pytest

from simulation.preload import PRELOAD
from simulation.simulation import run_seed


@pytest.mark.parametrize("seed", range(60))
def test_seed(seed: int):
    """Nothing that the model demands is violated; a failure is shrunk by ./scripts/test --simulate preload:SEED."""
    report = run_seed(PRELOAD, seed)
    assert report.violation is None, "\n".join([*report.history[-40:], f"./scripts/test --simulate preload:{seed}"])


def test_repeatable():
    """A seed alone decides everything: two runs have the same history."""
    first, second = (run_seed(PRELOAD, 7) for _ in range(2))
    assert first.history == second.history
    assert first.steps == second.steps
