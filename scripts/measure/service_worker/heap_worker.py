"""adblock-compiler as it is, and beside it /bench/heap, for ./scripts/bench service."""

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
        return await super().fetch(request)
