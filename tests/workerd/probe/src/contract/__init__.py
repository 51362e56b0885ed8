"""What the adapters promise, as cases that run over the fakes in CPython and over the real bindings in workerd.

A case is `async def check_…(subject, unique)`: its docstring is the claim, `unique` a text no other call was given, to
name keys and tables with. It assumes nothing about what else is stored and needs no more than 3 s.
"""

import inspect
import secrets
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from contract import d1, fetch, kv, public_cache, queues, r2, sql

Case = Callable[[Any, str], Awaitable[None]]

SUITES: dict[str, dict[str, Case]] = {
    module.__name__.rpartition(".")[2]: {
        name: case
        for name, case in inspect.getmembers(module, inspect.iscoroutinefunction)
        if name.startswith("check_")
    }
    for module in (d1, fetch, kv, public_cache, queues, r2, sql)
}


async def run_case(suite: str, case: str, make_subject: Callable[[], Any]) -> str | None:
    """None when the case holds, else the text of the traceback; `make_subject` may be async."""
    try:
        made = make_subject()
        subject = await made if inspect.isawaitable(made) else made
        await SUITES[suite][case](subject, secrets.token_hex(6))
    except Exception:  # noqa: BLE001 - the report is the point
        return traceback.format_exc()
    return None
