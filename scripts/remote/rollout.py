"""The order of a deployment: a Worker comes after those that it names in its config.

That is its tail consumer, the Workers that it calls, and the owners of the Durable Objects and workflows that it binds.
A rollback goes the other way. Migrations of the database come first and only ever add, so that the former versions
still run.

By default Cloudflare lets a busy Durable Object keep its old code for up to 300 s, and the order would mean nothing. So
`durable_objects.code_update_strategy` is `immediate` in every config that owns classes, for uploads and rollbacks. It
resets objects in the midst of their work, which they survive as any crash.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Final

from commands import DeployError
from worker_config import WorkerConfig


@dataclass(frozen=True, slots=True)
class Need:
    """One dependency of a deployment. `worker` cannot be deployed, or would fail, before `first` is there."""

    worker: str
    first: str
    reason: str


# How a config names other Workers, and why they come first. Cloudflare refuses a deployment that names a Worker or a class
# which does not exist; where both exist already, the owner's new code must be there before somebody calls it.
RULES: Final[tuple[tuple[Callable[[WorkerConfig], Iterable[str | None]], str], ...]] = (
    (
        lambda config: (entry["service"] for entry in config.all("tail_consumers")),
        "it receives the events of {worker} from the first request on",
    ),
    (
        lambda config: (entry["service"] for entry in config.all("services")),
        "{worker} calls it",
    ),
    (
        lambda config: (entry.get("script_name") for entry in config.all("durable_objects", "bindings")),
        "it owns a Durable Object class that {worker} binds",
    ),
    (
        lambda config: (entry.get("script_name") for entry in config.all("workflows")),
        "it owns a workflow that {worker} starts",
    ),
)


def list_needs(configs: list[WorkerConfig]) -> list[Need]:
    """Return what has to be deployed before what, among these Workers."""
    return list(_find_needs(configs))


def _find_needs(configs: list[WorkerConfig]) -> Iterator[Need]:
    names = {config.name for config in configs}
    for config in configs:
        for find_names, reason in RULES:
            for first in dict.fromkeys(find_names(config)):
                if first in names and first != config.name:
                    yield Need(config.name, str(first), reason.format(worker=config.name))


def sort_by_need(configs: list[WorkerConfig]) -> list[WorkerConfig]:
    """Return the configs in the order of their deployment; those that need nothing keep their order."""
    graph: dict[str, list[str]] = {config.name: [] for config in configs}
    for need in list_needs(configs):
        graph[need.worker].append(need.first)
    by_name = {config.name: config for config in configs}
    try:
        return [by_name[name] for name in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        circle = " needs ".join(reversed(error.args[1]))
        raise DeployError(f"no order of deployment exists: {circle}; remove one of these from its config") from None
