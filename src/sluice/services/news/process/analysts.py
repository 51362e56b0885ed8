"""Chooses the analyst: Workers AI where it is bound, otherwise the embedded analyst."""

from collections.abc import Callable
from typing import Any

from sluice.core.news.analysts import Analyst
from sluice.services.news.process.workers_ai import RunModel, WorkersAi


def choose_analyst(binding: Any | None, connect: Callable[[Any], RunModel], embedded: Analyst) -> Analyst:
    """`connect` turns the binding of Workers AI into a function that runs a model; None means that it is not bound."""
    return embedded if binding is None else WorkersAi(connect(binding))
