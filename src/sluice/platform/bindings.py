"""Whether each binding a Worker needs is there and answers."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sluice.platform.failures import get_js_message
from sluice.web.health import Check

PROBE_TIMEOUT_S: Final = 5.0
# A name of its own: no feature stores anything under it.
_PROBED: Final = "health"

Kind = Literal["kv", "d1", "r2", "queue", "analytics", "ai", "durable-object", "workflow", "service"]


@dataclass(frozen=True, slots=True)
class Binding:
    """A name in the Worker's environment and what must stand behind it."""

    name: str
    kind: Kind


async def probe(env: Any, bindings: Iterable[Binding], *, timeout_s: float = PROBE_TIMEOUT_S) -> dict[str, Check]:
    """Try every binding at once; one that is missing, fails or stays silent is not well, and says why."""
    wanted = list(bindings)
    checks = await asyncio.gather(*(_check(env, binding, timeout_s) for binding in wanted))
    return {binding.name: check for binding, check in zip(wanted, checks, strict=True)}


async def _check(env: Any, binding: Binding, timeout_s: float) -> Check:
    bound = getattr(env, binding.name, None)
    if bound is None:
        return Check(binding.kind, ok=False, error="the binding is missing")
    try:
        async with asyncio.timeout(timeout_s):
            await PROBES[binding.kind](bound)
    except AttributeError as error:
        return Check(binding.kind, ok=False, error=f"it has no {error.name}: another kind is bound under this name")
    except TimeoutError:
        return Check(binding.kind, ok=False, error=f"no answer within {timeout_s:g} s")
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is the finding
        return Check(binding.kind, ok=False, error=(get_js_message(error) or repr(error))[:300])
    return Check(binding.kind, ok=True)


async def _workflow(bound: Any) -> None:
    try:
        await bound.get(_PROBED)
    except Exception as error:
        # That there is no such instance is an answer.
        if "not_found" not in (get_js_message(error) or ""):
            raise


def _has(method: str) -> Callable[[Any], Awaitable[None]]:
    async def present(bound: Any) -> None:
        getattr(bound, method)

    return present


PROBES: Final[Mapping[Kind, Callable[[Any], Awaitable[Any]]]] = {
    "kv": lambda bound: bound.get(_PROBED),
    "d1": lambda bound: bound.prepare("select 1").all(),
    "r2": lambda bound: bound.head(_PROBED),
    "queue": _has("send"),
    "analytics": _has("writeDataPoint"),
    "ai": _has("run"),
    "durable-object": lambda bound: bound.getByName(_PROBED).ping(),
    "workflow": _workflow,
    "service": _has("fetch"),
}
