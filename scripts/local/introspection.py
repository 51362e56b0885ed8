"""The Python part of host.mjs: imports the entry module and calls its classes as Cloudflare's runtime does."""

import importlib
import json
import os
import random
import re
from collections.abc import Iterator
from inspect import isawaitable, isclass, ismethod
from types import ModuleType
from typing import Any

from pyodide.code import relaxed_call
from workers import DurableObject, WorkerEntrypoint, WorkflowEntrypoint, python_from_rpc, python_to_rpc

KINDS = {
    "DurableObject": DurableObject,
    "WorkerEntrypoint": WorkerEntrypoint,
    "WorkflowEntrypoint": WorkflowEntrypoint,
}
RUNTIME_FRAME = re.compile(
    r'  File "(?:/lib/python|/session/_local_|/session/python_modules/workers/|<exec>|<frozen importlib)'
)


def refuse_randomness(size: int) -> bytes:
    raise RuntimeError(
        f"the module reads {size} random bytes at import, which fails when deployed: read them inside a handler"
    )


def import_main(name: str) -> ModuleType:
    """Import the entry module; using randomness at import is an error, as it is when deployed."""
    before, urandom = random.getstate(), os.urandom
    os.urandom = random._urandom = refuse_randomness  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        module = importlib.import_module(name)
    finally:
        os.urandom = random._urandom = urandom  # type: ignore[attr-defined]  # noqa: SLF001
    if random.getstate() != before:
        raise RuntimeError(
            f"{name} uses `random` while it is imported: when deployed, every isolate gets the same numbers"
        )
    return module


def reseed() -> None:
    """Seed `random` before the first call: the snapshot contains its state, which is the same at every start."""
    random.seed()


def list_classes(module: ModuleType) -> Iterator[tuple[str, type]]:
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in names:
        value = getattr(module, name)
        if isclass(value):
            yield name, value


def find_missing_classes(module: ModuleType, classes: str) -> str:
    """Return a text that names the classes of the config (JSON pairs of name and kind) that the module does not export."""
    exported = dict(list_classes(module))
    missing = [
        f"{module.__name__}.py does not export a {kind} class named {name} in __all__"
        for name, kind in json.loads(classes)
        if not (name in exported and issubclass(exported[name], KINDS[kind]))
    ]
    return "; ".join(missing)


async def call_method(relaxed: bool, instance: Any, name: str, *args: Any) -> Any:
    method = getattr(instance, name)
    result = call_relaxed(method, *args) if relaxed else method(*args)
    return await result if isawaitable(result) else result


def call_relaxed(method: Any, *args: Any) -> Any:
    """Call it with as many of the arguments as it takes.

    Pyodide remembers the signatures of 128 callables: a method among them would keep its instance, a function keeps none.
    """
    return relaxed_call(method.__func__, method.__self__, *args) if ismethod(method) else relaxed_call(method, *args)


async def call_converted(relaxed: bool, instance: Any, name: str, *args: Any) -> Any:
    return python_to_rpc(await call_method(relaxed, instance, name, *map(python_from_rpc, args)))


def shorten_traceback(text: str) -> str:
    """Return the traceback without the frames of the interpreter and of this host."""
    lines: list[str] = []
    hidden = False
    for line in text.rstrip().splitlines():
        if line.startswith("  File "):
            hidden = bool(RUNTIME_FRAME.match(line))
        elif not line.startswith("    "):
            hidden = False
        if not hidden:
            lines.append(line.replace("/session/", ""))
    return "\n".join(lines)
