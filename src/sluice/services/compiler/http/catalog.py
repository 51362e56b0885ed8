"""GET /api: the endpoints, the transformations and an example."""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

from sluice import __version__
from sluice.core.filters.pipeline import TRANSFORMATIONS
from sluice.web import CachePolicy, Reply, Request, share_reply
from sluice.web.operations import Operation, ReplyDoc, describe

ENDPOINTS: Final = {
    "GET /api": "this overview",
    "GET /health": "whether every binding answers",
    "POST /configuration/validate": "the invalid fields of a configuration",
    "POST /compile": "compile a list; Accept: text/plain gives the list itself",
    "POST /compile/batch": "compile 1 to 10 lists",
    "POST /compile/stream": "compile and report progress as Server-Sent Events",
    "GET /ws/compile": "the same over a WebSocket",
    "POST /compile/async": "compile in the background",
    "POST /compile/batch/async": "compile 1 to 100 lists in the background",
    "GET /queue/results/:id": "the status of a job, and its list",
    "POST /queue/cancel/:id": "cancel a job; DELETE does the same",
    "GET /queue/stats": "statistics of the queues",
    "GET /queue/history": "the last jobs, and the depth over time",
    "GET /queue/dead-letters": "the jobs that failed for good, for the operator",
    "POST /workflow/compile": "compile as a workflow that survives restarts",
    "POST /workflow/batch": "the same for many lists",
    "POST /workflow/cache-warm": "compile popular lists ahead of requests",
    "POST /workflow/health-check": "check whether sources are available and complete",
    "GET /workflow/status/:type/:id": "the status of a workflow, and its result",
    "GET /workflow/events/:id": "the events of a workflow; ?since= a time",
    "GET /workflow/metrics": "figures of the workflow runs",
    "GET /health/latest": "the last check of the sources",
    "GET /lists": "the lists that people subscribe to",
    "GET /lists/:name": "a list's facts; at NAME.txt and NAME.FORMAT the list itself",
    "GET /lists/:name/versions": "its last 30 versions",
    "GET /lists/:name/diff": "what changed between two versions; ?from=&to=",
    "GET /lists/:name/why": "why a name is blocked or allowed; ?domain=",
    "GET /lists/:name/overlap": "what each source contributes",
    "GET /lists/patches/:id/:file": "differential updates",
    "PUT /lists/:name": "publish a list (operator); ?dryRun=1 shows what would change",
    "DELETE /lists/:name": "remove a list (operator)",
    "POST /lists/:name/rebuild": "build a list now (operator)",
    "POST /lists/:name/rollback": "publish an older version's rules again (operator)",
    "GET /metrics": "requests of the last 30 minutes",
    "GET /metrics/prometheus": "counters for Prometheus",
    "GET /api/turnstile-config": "whether a challenge must be solved",
}
_CATALOG: Final = CachePolicy(max_age_s=60, tags=("document",))
EXAMPLE: Final[dict[str, Any]] = {
    "method": "POST",
    "url": "/compile",
    "body": {
        "configuration": {
            "name": "My list",
            "sources": [{"source": "https://example.org/hosts.txt", "type": "hosts"}],
            "transformations": ["RemoveComments", "Compress", "Validate", "Deduplicate"],
        }
    },
}


class Catalog(TypedDict):
    name: str
    version: str
    endpoints: Mapping[str, str]
    transformations: list[str]
    example: Mapping[str, Any]


SHOW_CATALOG: Final = Operation(
    "showCatalog",
    "The endpoints, and an example to begin with",
    {200: ReplyDoc("The endpoints, the transformations, an example.", Catalog)},
    tag="About",
)


@describe(SHOW_CATALOG)
async def show_catalog(_request: Request) -> Reply:
    catalog: Catalog = {
        "name": "Sluice compiler",
        "version": __version__,
        "endpoints": ENDPOINTS,
        "transformations": list(TRANSFORMATIONS),
        "example": EXAMPLE,
    }
    return share_reply(Reply.json(catalog), _CATALOG)
