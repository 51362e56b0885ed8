"""Runs the compiler on this machine: it reads files and URLs, and its limits protect only against accidents."""

from collections.abc import Callable, Coroutine
from random import random
from typing import Any, TypeVar

from sluice.cli.downloads import LIMITS, SystemClock, download
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.compiler.events import Emit, ignore_event
from sluice.core.compiler.sources.locations import is_url
from sluice.core.concurrency import Sequential, run_without_loop

T = TypeVar("T")
# What is asked of a compiler: it gets the checked configuration.
Work = Callable[[FilterCompiler, Configuration], Coroutine[Any, Any, T]]


def run_compiler(configuration: object, work: Work[T], emit: Emit = ignore_event) -> T:
    """Run the work with a compiler whose reports list every dropped line.

    URLs are read side by side. Files are read one after another: that is as fast, and to import asyncio is not.
    """
    checked = parse_configuration(configuration)
    if any(map(is_url, checked.locations)):
        from sluice.cli.event_loop import run_in_loop  # noqa: PLC0415 - delays the start

        return run_in_loop(checked, work, emit)
    compiler = FilterCompiler(
        download=download,
        clock=SystemClock(),
        draw=draw,
        limits=LIMITS,
        emit=emit,
        max_dropped=None,
        concurrency=Sequential(),
    )
    return run_without_loop(work(compiler, checked))


def draw() -> float:
    """Return the jitter of a retry."""
    return random()  # noqa: S311 - no secret
