"""The simulation finds what is planted, and the plants do not rot."""

import pytest

from simulation.planting import PLANTS, SOURCE, search


@pytest.mark.parametrize("name", PLANTS)
def test_patches_fit(name: str):
    """What a patch replaces occurs exactly once."""
    for file, old, new in PLANTS[name].patches:
        assert (SOURCE / "sluice" / file).read_text().count(old) == 1, old
        assert old != new


@pytest.mark.parametrize("name", ["a lease does not take the page", "an idempotency key is not looked at"])
def test_found(name: str):
    """Some seed shows the defect."""
    assert search(name, 20).seed is not None
