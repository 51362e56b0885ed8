"""The split of the test modules into parts that run side by side."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shards import LENGTHS_S, Shard

MODULES = st.sets(st.text() | st.sampled_from(sorted(LENGTHS_S)))


@given(MODULES, st.integers(1, 5))
def test_every_module_runs_once(modules: set[str], total: int):
    """Whatever the modules, each is in exactly one part."""
    parts = [Shard(number, total).choose(modules) for number in range(1, total + 1)]
    assert sorted(module for part in parts for module in part) == sorted(modules)


@given(MODULES)
def test_the_split_depends_on_names_alone(modules: set[str]):
    """The order in which modules are found does not matter."""
    assert Shard(1, 3).choose(sorted(modules)) == Shard(1, 3).choose(sorted(modules, reverse=True))


def test_no_such_part():
    """A part beyond the last is a mistake of the caller, not an empty run."""
    assert Shard.parse("3/3") == Shard(3, 3)
    for text in ("0/3", "4/3", "1", "x/y"):
        with pytest.raises(ValueError):
            Shard.parse(text)
