"""A fixed set of seeds: the compiler loses no job and no list, and repeats nothing, through crashes, faults and every order of events."""

import pytest

from simulation.compiler import COMPILER
from simulation.simulation import run_seed


@pytest.mark.parametrize("seed", range(24))
def test_seed(seed: int):
    """Nothing that the model demands is violated; a failure is shrunk by ./scripts/test --simulate-for."""
    report = run_seed(COMPILER, seed)
    assert report.violation is None, "\n".join([*report.history[-40:], f"./scripts/test --simulate compiler:{seed}"])
