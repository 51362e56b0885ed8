"""Checks that each binding of a Worker exists and answers."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sluice.core.errors import ConfigError
from sluice.platform.failures import get_js_message, is_instance_missing
from sluice.web.common_routes import Check

PROBE_TIMEOUT_S: Final = 5.0
# No feature stores anything under this key or name.
_PROBE_KEY: Final = "health"

Kind = Literal["kv", "d1", "r2", "queue", "analytics", "ai", "durable-object", "workflow", "service"]


@dataclass(frozen=True, slots=True)
class Binding:
    """A name in the Worker's environment and the kind of binding expected there."""

    name: str
    kind: Kind


def require_binding(env: Any, name: str) -> Any:
    """Return what is bound under the name; raise ConfigError if nothing is."""
    bound = getattr(env, name, None)
    if bound is None:
        raise ConfigError(f"the binding {name} is missing: add it to the config of this Worker")
    return bound


class LazyBinding:
    """A binding that is looked up when it is used: each look-up crosses into JavaScript, and most visits need none."""

    def __init__(self, env: Any, name: str) -> None:
        self._env = env
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(require_binding(self._env, self._name), attribute)


async def probe(env: Any, bindings: Iterable[Binding], *, timeout_s: float = PROBE_TIMEOUT_S) -> dict[str, Check]:
    """Try all bindings at once; a check says why its binding is missing, fails or does not answer."""
    probed = list(bindings)
    checks = await asyncio.gather(*(_probe_binding(env, binding, timeout_s) for binding in probed))
    return {binding.name: check for binding, check in zip(probed, checks, strict=True)}


async def _probe_binding(env: Any, binding: Binding, timeout_s: float) -> Check:
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
    except Exception as error:  # noqa: BLE001 - any failure is a result of the check
        return Check(binding.kind, ok=False, error=(get_js_message(error) or repr(error))[:300])
    return Check(binding.kind, ok=True)


async def _probe_workflow(bound: Any) -> None:
    try:
        await bound.get(_PROBE_KEY)
    except Exception as error:
        # The binding works if it answers that there is no such instance.
        if not is_instance_missing(error):
            raise


def _check_method(method: str) -> Callable[[Any], Awaitable[None]]:
    async def check(bound: Any) -> None:
        getattr(bound, method)

    return check


PROBES: Final[Mapping[Kind, Callable[[Any], Awaitable[Any]]]] = {
    "kv": lambda bound: bound.get(_PROBE_KEY),
    "d1": lambda bound: bound.prepare("select 1").all(),
    "r2": lambda bound: bound.head(_PROBE_KEY),
    "queue": _check_method("send"),
    "analytics": _check_method("writeDataPoint"),
    "ai": _check_method("run"),
    "durable-object": lambda bound: bound.getByName(_PROBE_KEY).ping(),
    "workflow": _probe_workflow,
    "service": _check_method("fetch"),
}
