"""Chooses who answers: Workers AI where it is bound, otherwise the embedded analyst."""

from collections.abc import Callable
from typing import Any

from sluice.core.news.analysts import Analyst
from sluice.core.ports import Log
from sluice.services.news.process.second_look import SecondLook, SecondLookQueue
from sluice.services.news.process.spoken import AiUse, GuardedAi, OneAnalyst, Speaker
from sluice.services.news.process.stages import Scrape
from sluice.services.news.process.workers_ai import RunModel, WorkersAi
from sluice.services.news.settings import ProcessorSettings


def choose_speaker(
    binding: Any | None,
    connect: Callable[[Any], RunModel],
    embedded: Analyst,
    use: AiUse,
    settings: ProcessorSettings,
) -> Speaker:
    """`connect` turns the binding of Workers AI into a function that runs a model; None means that it is not bound."""
    if binding is None:
        return OneAnalyst(embedded)
    ai = WorkersAi(connect(binding), settings.ai_model)
    return GuardedAi(ai=ai, fallback=embedded, use=use, daily_neurons=settings.ai_daily_neurons)


def choose_second_look(
    speaker: Speaker, queue: SecondLookQueue, scrape: Scrape, now_ms: Callable[[], int], log: Log
) -> SecondLook | None:
    """Returns None if the embedded analyst is the only one."""
    if not isinstance(speaker, GuardedAi):
        return None
    return SecondLook(speaker=speaker, queue=queue, scrape=scrape, now_ms=now_ms, log=log)
