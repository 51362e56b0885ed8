"""adblock-compiler as it is, and beside it /bench/heap and /bench/objects, for ./scripts/bench service and the tests."""

import gc
import json
from collections import Counter
from typing import Any

import pyodide_js
from workers import Response

import compiler_worker

__all__ = compiler_worker.__all__

globals().update({name: getattr(compiler_worker, name) for name in __all__})


class Default(compiler_worker.Default):
    async def fetch(self, request: Any) -> Any:
        if request.url.endswith("/bench/heap"):
            return Response(str(pyodide_js._module.HEAPU8.length))  # noqa: SLF001 - it never shrinks
        if request.url.endswith("/bench/objects"):
            return Response(json.dumps(count_objects()))
        return await super().fetch(request)


def count_objects() -> dict[str, int]:
    """Return how many objects of each type live, whoever holds them: Python or a proxy of JavaScript."""
    gc.collect()
    return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())
