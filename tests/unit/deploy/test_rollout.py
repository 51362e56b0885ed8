"""A Worker is deployed after those that its config names."""

from pathlib import Path
from typing import Any

import pytest

from commands import DeployError
from rollout import list_needs, sort_by_need
from worker_config import WorkerConfig


def config(name: str, **content: Any) -> WorkerConfig:
    return WorkerConfig(Path(f"wrangler.{name}.toml"), {"name": name, **content})


OWNER = config("owner", durable_objects={"bindings": [{"name": "QUEUE", "class_name": "Queue"}]})


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"tail_consumers": [{"service": "owner"}]}, "it receives the events of caller from the first request on"),
        ({"services": [{"binding": "OWNER", "service": "owner"}]}, "caller calls it"),
        (
            {"durable_objects": {"bindings": [{"name": "QUEUE", "class_name": "Queue", "script_name": "owner"}]}},
            "it owns a Durable Object class that caller binds",
        ),
        (
            {"workflows": [{"binding": "FLOW", "name": "flow", "class_name": "Flow", "script_name": "owner"}]},
            "it owns a workflow that caller starts",
        ),
    ],
)
def test_what_is_named_comes_first(content: dict[str, Any], reason: str):
    """Each way to name another Worker puts that one first, with its reason."""
    configs = [config("caller", **content), OWNER]
    assert [each.name for each in sort_by_need(configs)] == ["owner", "caller"]
    assert [(need.worker, need.first, need.reason) for need in list_needs(configs)] == [("caller", "owner", reason)]


def test_chain():
    """What is needed by what is needed comes first of all."""
    configs = [
        config("a", services=[{"binding": "B", "service": "b"}]),
        config("b", services=[{"binding": "C", "service": "c"}]),
        config("c"),
    ]
    assert [each.name for each in sort_by_need(configs)] == ["c", "b", "a"]


def test_names_outside_do_not_count():
    """A Worker that is not deployed here, and a Worker's own class, change nothing."""
    own = {"bindings": [{"name": "QUEUE", "class_name": "Queue", "script_name": "a"}]}
    assert list_needs([config("a", services=[{"binding": "X", "service": "elsewhere"}], durable_objects=own)]) == []


def test_circle():
    """Two Workers that name each other cannot be ordered, and the message names both."""
    configs = [
        config("a", services=[{"binding": "B", "service": "b"}]),
        config("b", services=[{"binding": "A", "service": "a"}]),
    ]
    with pytest.raises(DeployError, match=r"(a needs b needs a|b needs a needs b); remove one"):
        sort_by_need(configs)
