"""A fixed set of seeds: the news pipeline loses nothing and repeats nothing, through crashes, faults and every order of events."""

import pytest

from simulation.news import NEWS
from simulation.simulation import run_seed


@pytest.mark.parametrize("seed", range(16))
def test_seed(seed: int):
    """Nothing that the model demands is violated; a failure is shrunk by ./scripts/test --simulate-for."""
    report = run_seed(NEWS, seed)
    assert report.violation is None, "\n".join([*report.history[-40:], f"./scripts/test --simulate news:{seed}"])
