"""The request bodies in the documentation: the models of the handlers, with the Turnstile token that the guard removes."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, Field

from sluice.services.compiler.guard.turnstile import MAX_TOKEN_CHARS
from sluice.services.compiler.health.workflow import HealthRequest
from sluice.services.compiler.requests import AsyncBatchRequest, BatchRequest, CompileRequest
from sluice.services.compiler.workflows.warming import WarmRequest
from sluice.web.openapi.docs import Absent

_PRIORITY: Final = Field(
    default="standard", description='"high" goes before the others; anything else is standard.', examples=["high"]
)


class _TokenBody(BaseModel):
    turnstileToken: (  # noqa: N815 - as it is sent
        Annotated[
            str, Field(max_length=MAX_TOKEN_CHARS, description="Required if GET /api/turnstile-config says enabled.")
        ]
        | Absent
    ) = None


class CompileBody(_TokenBody, CompileRequest):
    """`sources` are URLs, or keys of `preFetchedContent`, which is compiled for this caller alone."""

    priority: Any = _PRIORITY


class BatchBody(_TokenBody, BatchRequest):
    priority: Any = _PRIORITY


class AsyncBatchBody(_TokenBody, AsyncBatchRequest):
    priority: Any = _PRIORITY


class WarmBody(_TokenBody, WarmRequest):
    """What to warm; without configurations, the default lists."""


class HealthBody(_TokenBody, HealthRequest):
    """What to check; without sources, the operator's. A check of your own sources is answered and forgotten."""


# Every example is valid as it is and needs no network.
CONFIGURATION: Final[dict[str, Any]] = {
    "name": "My list",
    "sources": [{"source": "rules.txt"}],
    "transformations": ["RemoveComments", "Compress", "Validate", "Deduplicate"],
}
_CONTENT: Final = {"rules.txt": "! a comment\n||ads.example.org^\n0.0.0.0 tracker.example.net"}
COMPILE: Final[dict[str, Any]] = {"configuration": CONFIGURATION, "preFetchedContent": _CONTENT}
BATCH: Final[dict[str, Any]] = {"requests": [{"id": "mine"} | COMPILE]}
WARM: Final[dict[str, Any]] = {
    "configurations": [{"name": "EasyList", "sources": [{"source": "https://easylist.to/easylist/easylist.txt"}]}]
}
CHECK: Final[dict[str, Any]] = {
    "sources": [
        {"name": "EasyList", "url": "https://easylist.to/easylist/easylist.txt", "expectedMinRules": 50_000},
    ]
}
