"""The Python half of host.mjs: imports the entry module and calls its classes as Cloudflare's runtime does."""

import importlib
import json
import os
import random
import re
from collections.abc import Iterator
from inspect import isawaitable, isclass
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


def no_chance(size: int) -> bytes:
    raise RuntimeError(f"{size} random bytes were asked for at import: deployed, that fails; ask inside a handler")


def import_main(name: str) -> ModuleType:
    """Import the entry module; using chance while importing is an error, as it is when deployed."""
    before, urandom = random.getstate(), os.urandom
    os.urandom = random._urandom = no_chance  # type: ignore[attr-defined]  # noqa: SLF001
    try:
        module = importlib.import_module(name)
    finally:
        os.urandom = random._urandom = urandom  # type: ignore[attr-defined]  # noqa: SLF001
    if random.getstate() != before:
        raise RuntimeError(f"{name} uses `random` while it is imported: deployed, every isolate would draw the same")
    return module


def reseed() -> None:
    """Before the first call: the snapshot holds the generator's state, which is thus the same at every start."""
    random.seed()


def exported(module: ModuleType) -> Iterator[tuple[str, type]]:
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in names:
        value = getattr(module, name)
        if isclass(value):
            yield name, value


def missing_classes(module: ModuleType, wanted: str) -> str:
    """Say which classes of the config (JSON pairs of name and kind) the module does not export; "" for none."""
    found = dict(exported(module))
    missing = [
        f"{module.__name__}.py does not export a {kind} class named {name} in __all__"
        for name, kind in json.loads(wanted)
        if not (name in found and issubclass(found[name], KINDS[kind]))
    ]
    return "; ".join(missing)


async def call_converted(relaxed: bool, instance: Any, name: str, *args: Any) -> Any:
    method = getattr(instance, name)
    given = [python_from_rpc(arg) for arg in args]
    result = relaxed_call(method, *given) if relaxed else method(*given)
    return python_to_rpc(await result if isawaitable(result) else result)


def shorten_traceback(text: str) -> str:
    """Leave out the frames of the interpreter and of this host: they are never where the mistake is."""
    kept: list[str] = []
    hidden = False
    for line in text.rstrip().splitlines():
        if line.startswith("  File "):
            hidden = bool(RUNTIME_FRAME.match(line))
        elif not line.startswith("    "):
            hidden = False
        if not hidden:
            kept.append(line.replace("/session/", ""))
    return "\n".join(kept)
