"""adblock-compiler as it is deployed, but it counts the source files that a request crosses, and its object can fail.

A request with X-Count-Files is answered with the files. A list with a name in FAILURES fails in its Durable Object.
"""

import json
from typing import Any, Final

from workers import Response

import compiler_worker
from fakes.files_crossed import files_crossed
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests
from sluice.core.remote import answer_calls
from sluice.core.remote_errors import encode_error
from sluice.services.compiler.cache.compile_order import CompileOptions
from sluice.services.compiler.cache.remote_single_flight import CompilationCalls, ListAnswer

__all__ = compiler_worker.__all__

globals().update({name: getattr(compiler_worker, name) for name in __all__})

FAILURES: Final[dict[str, SluiceError]] = {
    "busy": TooManyRequests("the source allows no more requests", retry_after_s=42),
    "invalid": Invalid("2 fields are invalid", [BadField("name", "is taken"), BadField("sources[0]", "is gone")]),
}


class Default(compiler_worker.Default):
    async def fetch(self, request: Any) -> Any:
        if not request.js_object.headers.get("x-count-files"):
            return await super().fetch(request)
        with files_crossed() as crossed:
            reply = await super().fetch(request)
        assert reply.js_object.headers.get("x-cache") == "HIT"
        return Response.json(sorted(crossed - {"compiler_test_worker.py"}))


class CompilationObject(compiler_worker.CompilationObject):
    async def call(self, name: str, message: Any) -> Any:
        failure = FAILURES.get(json.loads(json.loads(message)["configuration"])["name"])
        if failure is None:
            return await super().call(name, message)
        return await answer_calls(CompilationCalls)(Failing(failure), name, message)


class Failing:
    """A compilation that fails."""

    def __init__(self, error: SluiceError) -> None:
        self.error = error

    async def serve_list(self, configuration: str, options: CompileOptions, max_fetches: int) -> ListAnswer:
        del configuration, options, max_fetches
        return ListAnswer(fetches=0, error=encode_error(self.error))
