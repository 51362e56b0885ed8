"""The documentation of each route of adblock-compiler."""

from typing import Final

from sluice.core.compiler.configuration import Configuration
from sluice.services.compiler.http.docs import (
    job_replies,
    list_replies,
    published_lists,
    service_replies,
    workflow_replies,
)
from sluice.services.compiler.http.docs.bodies import (
    BATCH,
    CHECK,
    COMPILE,
    CONFIGURATION,
    WARM,
    AsyncBatchBody,
    BatchBody,
    CompileBody,
    HealthBody,
    WarmBody,
)
from sluice.services.compiler.http.docs.queries import EventsQuery, ResultQuery
from sluice.services.compiler.limits.memory import MAX_REPORTED_BYTES, MAX_TEXT_BYTES
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.workflows.starter import PREFIXES, PUBLISHED_LIST
from sluice.web.openapi.common_docs import describe_page
from sluice.web.openapi.docs import Doc, Documentation, Media, Param, ReplyDoc

_ABOUT: Final = "About"
_COMPILE: Final = "Compile"
_QUEUE: Final = "Queue"
_WORKFLOWS: Final = "Workflows"
_FIGURES: Final = "Figures"

# The problems of requests that cost a compilation: they pass Turnstile and the rate limit first.
_GUARDED: Final = (403, 429)
# The problems of requests that download sources while the caller waits.
_FETCHING: Final = (*_GUARDED, 502, 504)
_JOB: Final = {
    "id": Param(
        "The `requestId` of a job, or the `workflowId` of a workflow. Whoever knows it owns the job.",
        "compile-1790000000000-0123456789abcdef0123456789abcdef",
    )
}
_RUN: Final = Param("The `workflowId` of a run.", "wf-compile-1790000000000-0123456789abcdef0123456789abcdef")
_TYPE: Final = Param("The type of a workflow.", "compilation", (*PREFIXES, PUBLISHED_LIST))
_WHERE_CACHED: Final = {
    "X-Cache": "HIT if the list was in the cache, else MISS.",
    "X-Request-Deduplication": "HIT if another request compiled the list at the same time.",
}
_EVENTS: Final = (
    "Server-Sent Events, each with a JSON object: `log`, `source:start`, `source:complete`, `source:error`, "
    "`transformation:start`, `transformation:complete`, `progress`, `compilation:complete`, `diagnostic`, `network`, "
    "`cache`, `result` (what /compile answers, from `rules` on), and last `done` or `error`."
)

_LIMITS: Final = (
    f"A source may have {LIMITS.source_bytes:,} bytes; all sources together {LIMITS.total_bytes:,} bytes, "
    f"{LIMITS.total_lines:,} lines and {MAX_TEXT_BYTES:,} bytes of memory as text ({MAX_REPORTED_BYTES:,} with `report`). "
    "What is larger is 413, and a job that fails for it is not tried again."
)

CATALOG: Final = Doc(
    summary="The endpoints, and an example to begin with",
    tag=_ABOUT,
    replies={200: ReplyDoc("The endpoints, the transformations, an example.", service_replies.Catalog)},
)
VALIDATE: Final = Doc(
    summary="Whether a configuration is valid",
    description="An invalid configuration is a result here, not an error.",
    tag=_COMPILE,
    body=Configuration,
    example=CONFIGURATION,
    replies={200: ReplyDoc("Every invalid field.", list_replies.ValidationReply)},
    problems=(429,),
)
COMPILE_NOW: Final = Doc(
    summary="Compile a list",
    description="With `Accept: text/plain` the reply is the list itself. Equal requests share one compilation, and its "
    "result is cached for an hour; `Cache-Control: no-cache` compiles anew and replaces it. With `preFetchedContent`, "
    "`report` or `benchmark` the list is compiled for this caller alone. One request causes at most 100 fetches, with "
    f"includes, redirects and retries. {_LIMITS}",
    tag=_COMPILE,
    body=CompileBody,
    example=COMPILE,
    replies={
        200: ReplyDoc(
            "The list.",
            (list_replies.CompiledList, Media("text/plain", "The list, a rule on each line.")),
            _WHERE_CACHED,
        )
    },
    problems=_FETCHING,
)
COMPILE_BATCH: Final = Doc(
    summary="Compile 1 to 10 lists",
    description="Each list is compiled separately: one that fails does not affect the others. Together they cause at most "
    "100 fetches, and for the rate limit a batch counts as one request for each ten sources begun.",
    tag=_COMPILE,
    body=BatchBody,
    example=BATCH,
    replies={200: ReplyDoc("A result for each request.", list_replies.BatchReply)},
    problems=_GUARDED,
)
COMPILE_STREAM: Final = Doc(
    summary="Compile a list and report its progress",
    description="Always compiles anew.",
    tag=_COMPILE,
    body=CompileBody,
    example=COMPILE,
    replies={200: ReplyDoc("Events, and the list at the end.", Media("text/event-stream", _EVENTS))},
    problems=_GUARDED,
)
SOCKET: Final = Doc(
    summary="Compile lists over a WebSocket",
    description='Send JSON objects: `{"type": "compile", "sessionId", "configuration", "preFetchedContent"?}`, '
    '`{"type": "cancel", "sessionId"}`, `{"type": "ping"}`. Three compilations may run at once.',
    tag=_COMPILE,
    replies={101: ReplyDoc("The connection becomes a WebSocket.")},
    problems=(426, 429),
)
COMPILE_ASYNC: Final = Doc(
    summary="Compile a list in the background",
    tag=_COMPILE,
    body=CompileBody,
    example=COMPILE,
    replies={202: ReplyDoc("The job is queued.", job_replies.JobAccepted, {"Location": "The URL of its result."})},
    problems=_GUARDED,
)
COMPILE_BATCH_ASYNC: Final = Doc(
    summary="Compile 1 to 100 lists in the background",
    tag=_COMPILE,
    body=AsyncBatchBody,
    example=BATCH,
    replies={202: ReplyDoc("The job is queued.", job_replies.JobAccepted, {"Location": "The URL of its results."})},
    problems=_GUARDED,
)
QUEUE_STATS: Final = Doc(
    summary="Statistics of the queues",
    tag=_QUEUE,
    replies={200: ReplyDoc("Counts and times of the last 24 hours, and the history.", job_replies.QueueCounts)},
)
QUEUE_HISTORY: Final = Doc(
    summary="The last jobs, and the depth over time",
    description="Without the ids and names of jobs, which are for the operator: with the token they are there.",
    tag=_QUEUE,
    replies={200: ReplyDoc("The last 50 jobs and 100 depths.", job_replies.QueueHistory)},
)
DEAD_LETTERS: Final = Doc(
    summary="The jobs that failed for good",
    description="And the items of batches, each with its reason: the queue gave them up, or no retry could help. They are kept "
    "for a week.",
    tag=_QUEUE,
    replies={200: ReplyDoc("The newest 100.", job_replies.DeadLetters)},
    security=("admin",),
)
QUEUE_RESULTS: Final = Doc(
    summary="The status of a job, and its list",
    tag=_QUEUE,
    params=_JOB,
    query=ResultQuery,
    replies={
        200: ReplyDoc(
            "The list of a completed job, else its status.",
            (job_replies.JobResult, Media("text/plain", "The list, a rule on each line.")),
        )
    },
    problems=(404,),
)
QUEUE_CANCEL: Final = Doc(
    summary="Cancel a job",
    description="POST and DELETE do the same.",
    tag=_QUEUE,
    params=_JOB,
    replies={200: ReplyDoc("The job is cancelled.", job_replies.JobCancelled)},
    problems=(404, 409),
)
WORKFLOW_COMPILE: Final = Doc(
    summary="Compile a list as a workflow",
    description="After a crash it continues after its last finished step.",
    tag=_WORKFLOWS,
    body=CompileBody,
    example=COMPILE,
    replies={202: ReplyDoc("The workflow is started.", workflow_replies.WorkflowStarted)},
    problems=_GUARDED,
)
WORKFLOW_BATCH: Final = Doc(
    summary="Compile 1 to 100 lists as a workflow",
    tag=_WORKFLOWS,
    body=AsyncBatchBody,
    example=BATCH,
    replies={202: ReplyDoc("The workflow is started.", workflow_replies.WorkflowStarted)},
    problems=_GUARDED,
)
WORKFLOW_WARM: Final = Doc(
    summary="Compile popular lists ahead of requests",
    tag=_WORKFLOWS,
    body=WarmBody,
    body_required=False,
    example=WARM,
    replies={202: ReplyDoc("The workflow is started.", workflow_replies.WorkflowStarted)},
    problems=_GUARDED,
)
WORKFLOW_CHECK: Final = Doc(
    summary="Check whether sources are available and complete",
    description="The check of a stranger is answered and forgotten. Only a check of all sources with the operator's token is "
    "stored, replaces the last report and raises alerts.",
    tag=_WORKFLOWS,
    body=HealthBody,
    body_required=False,
    example=CHECK,
    replies={202: ReplyDoc("The workflow is started.", workflow_replies.WorkflowStarted)},
    problems=(401, *_GUARDED),
)
WORKFLOW_STATUS: Final = Doc(
    summary="The status of a workflow, and its result",
    tag=_WORKFLOWS,
    params={"type": _TYPE, "id": _RUN},
    replies={200: ReplyDoc("Its state and its result.", workflow_replies.WorkflowStatus)},
    problems=(404,),
)
WORKFLOW_EVENTS: Final = Doc(
    summary="The events of a workflow",
    description="The last 100 events, kept for an hour. An unknown run has none.",
    tag=_WORKFLOWS,
    params={"id": _RUN},
    query=EventsQuery,
    replies={200: ReplyDoc("The events, the earliest first.", workflow_replies.WorkflowEvents)},
)
WORKFLOW_METRICS: Final = Doc(
    summary="Figures of the workflow runs",
    tag=_WORKFLOWS,
    replies={200: ReplyDoc("Figures for each type.", workflow_replies.WorkflowMetrics)},
)
LATEST_HEALTH: Final = Doc(
    summary="The last check of the sources",
    tag=_WORKFLOWS,
    replies={200: ReplyDoc("The report, updated by later rechecks.", workflow_replies.LatestHealth)},
)
METRICS: Final = Doc(
    summary="Requests of the last 30 minutes",
    tag=_FIGURES,
    replies={200: ReplyDoc("Counts, times and errors of each endpoint.", service_replies.RequestFigures)},
)
PROMETHEUS: Final = Doc(
    summary="Counters for Prometheus",
    tag=_FIGURES,
    replies={200: ReplyDoc("The text format 0.0.4.", Media("text/plain"))},
)
TURNSTILE: Final = Doc(
    summary="Whether a Turnstile challenge must be solved",
    tag=_ABOUT,
    replies={200: ReplyDoc("The site key, if one is set.", service_replies.TurnstileConfig)},
)

ROUTES: Final[Documentation] = {
    ("GET", "/"): describe_page("The compiler in a browser"),
    ("GET", "/api"): CATALOG,
    ("POST", "/configuration/validate"): VALIDATE,
    ("POST", "/compile"): COMPILE_NOW,
    ("POST", "/compile/batch"): COMPILE_BATCH,
    ("POST", "/compile/stream"): COMPILE_STREAM,
    ("GET", "/ws/compile"): SOCKET,
    ("POST", "/compile/async"): COMPILE_ASYNC,
    ("POST", "/compile/batch/async"): COMPILE_BATCH_ASYNC,
    ("GET", "/queue/stats"): QUEUE_STATS,
    ("GET", "/queue/history"): QUEUE_HISTORY,
    ("GET", "/queue/dead-letters"): DEAD_LETTERS,
    ("GET", "/queue/results/:id"): QUEUE_RESULTS,
    ("POST", "/queue/cancel/:id"): QUEUE_CANCEL,
    ("DELETE", "/queue/cancel/:id"): QUEUE_CANCEL,
    ("POST", "/workflow/compile"): WORKFLOW_COMPILE,
    ("POST", "/workflow/batch"): WORKFLOW_BATCH,
    ("POST", "/workflow/cache-warm"): WORKFLOW_WARM,
    ("POST", "/workflow/health-check"): WORKFLOW_CHECK,
    ("GET", "/workflow/status/:type/:id"): WORKFLOW_STATUS,
    ("GET", "/workflow/events/:id"): WORKFLOW_EVENTS,
    ("GET", "/workflow/metrics"): WORKFLOW_METRICS,
    ("GET", "/health/latest"): LATEST_HEALTH,
    ("GET", "/metrics"): METRICS,
    ("GET", "/metrics/prometheus"): PROMETHEUS,
    ("GET", "/api/turnstile-config"): TURNSTILE,
    **published_lists.ROUTES,
}
