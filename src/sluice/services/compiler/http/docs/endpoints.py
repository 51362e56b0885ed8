"""What each route of adblock-compiler says of itself."""

from typing import Final

from sluice.core.compiler.configuration import Configuration
from sluice.services.compiler.http.docs import replies as told
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
from sluice.services.compiler.http.jobs import ResultQuery
from sluice.services.compiler.http.workflows import EventsQuery
from sluice.services.compiler.workflows.starts import PREFIXES
from sluice.web import Doc, Media, Param, ReplyDoc

_ABOUT: Final = "About"
_COMPILE: Final = "Compile"
_QUEUE: Final = "Queue"
_WORKFLOWS: Final = "Workflows"
_FIGURES: Final = "Figures"

# Of whatever costs a compilation: Turnstile and the rate limit stand before it.
_GUARDED: Final = (403, 429)
# Of whatever reads sources while the caller waits.
_FETCHING: Final = (*_GUARDED, 502, 504)
_JOB: Final = {"id": Param("The `requestId` of a job.", "compile-1790000000000-0123456789abcdef")}
_RUN: Final = Param("The `workflowId` of a run.", "wf-compile-1790000000000-abc1234")
_TYPE: Final = Param("The type of a workflow.", "compilation", tuple(PREFIXES))
_WHERE_CACHED: Final = {
    "X-Cache": "HIT where the list was there already, else MISS.",
    "X-Request-Deduplication": "HIT where somebody else's compilation gave the list.",
}
_EVENTS: Final = (
    "Server-Sent Events, each with a JSON object: `log`, `source:start`, `source:complete`, `source:error`, "
    "`transformation:start`, `transformation:complete`, `progress`, `compilation:complete`, `diagnostic`, `network`, "
    "`cache`, `result` (what /compile answers, from `rules` on), and last `done` or `error`."
)

CATALOG: Final = Doc(
    summary="What there is, and an example to begin with",
    tag=_ABOUT,
    replies={200: ReplyDoc("The endpoints, the transformations, an example.", told.Catalog)},
)
VALIDATE: Final = Doc(
    summary="Whether a configuration is one",
    description="That it does not fit is an answer, not an error.",
    tag=_COMPILE,
    body=Configuration,
    example=CONFIGURATION,
    replies={200: ReplyDoc("Every field that does not fit.", told.Validated)},
)
COMPILE_NOW: Final = Doc(
    summary="Compile a list",
    description="With `Accept: text/plain` the reply is the list itself. Equal requests share one compilation, and its "
    "result is kept for an hour; content that is sent along, or `report`, makes it the caller's own.",
    tag=_COMPILE,
    body=CompileBody,
    example=COMPILE,
    replies={
        200: ReplyDoc(
            "The list.", (told.Compiled, Media("text/plain", "The list, a rule on each line.")), _WHERE_CACHED
        )
    },
    problems=_FETCHING,
)
COMPILE_BATCH: Final = Doc(
    summary="Compile 1 to 10 lists",
    description="Each is settled on its own: one that fails costs none of the others.",
    tag=_COMPILE,
    body=BatchBody,
    example=BATCH,
    replies={200: ReplyDoc("A result for each request.", told.BatchReply)},
    problems=_GUARDED,
)
COMPILE_STREAM: Final = Doc(
    summary="Compile a list and tell about it while it happens",
    description="Always compiles anew.",
    tag=_COMPILE,
    body=CompileBody,
    example=COMPILE,
    replies={200: ReplyDoc("What happens, and the list at the end.", Media("text/event-stream", _EVENTS))},
    problems=_GUARDED,
)
SOCKET: Final = Doc(
    summary="Compile lists over a WebSocket",
    description='Send JSON objects: `{"type": "compile", "sessionId", "configuration", "preFetchedContent"?}`, '
    '`{"type": "cancel", "sessionId"}`, `{"type": "ping"}`. Three compilations may run at once.',
    tag=_COMPILE,
    replies={101: ReplyDoc("The connection is a WebSocket from now on.")},
    problems=(426,),
)
COMPILE_LATER: Final = Doc(
    summary="Compile a list in the background",
    tag=_COMPILE,
    body=CompileBody,
    example=COMPILE,
    replies={202: ReplyDoc("The job is queued.", told.JobAccepted, {"Location": "Where its result will be."})},
    problems=_GUARDED,
)
COMPILE_BATCH_LATER: Final = Doc(
    summary="Compile 1 to 100 lists in the background",
    tag=_COMPILE,
    body=AsyncBatchBody,
    example=BATCH,
    replies={202: ReplyDoc("The job is queued.", told.JobAccepted, {"Location": "Where its results will be."})},
    problems=_GUARDED,
)
QUEUE_COUNTS: Final = Doc(
    summary="How the queues stand",
    tag=_QUEUE,
    replies={200: ReplyDoc("Counts and times of the last 24 hours, and the history.", told.QueueCounts)},
)
QUEUE_HISTORY: Final = Doc(
    summary="The last jobs, and the depth over time",
    tag=_QUEUE,
    replies={200: ReplyDoc("The last 50 jobs and 100 depths.", told.QueueHistory)},
)
QUEUE_RESULTS: Final = Doc(
    summary="How a job stands, and its list",
    tag=_QUEUE,
    params=_JOB,
    query=ResultQuery,
    replies={200: ReplyDoc("The list of a job that is completed, else how it stands.", told.JobResult)},
    problems=(404,),
)
QUEUE_CANCEL: Final = Doc(
    summary="Cancel a job",
    description="POST and DELETE do the same.",
    tag=_QUEUE,
    params=_JOB,
    replies={200: ReplyDoc("The job is cancelled.", told.JobCancelled)},
    problems=(404, 409),
)
WORKFLOW_COMPILE: Final = Doc(
    summary="Compile a list as a workflow",
    description="After a crash it goes on from its last finished step.",
    tag=_WORKFLOWS,
    body=CompileBody,
    example=COMPILE,
    replies={202: ReplyDoc("The workflow is started.", told.WorkflowStarted)},
    problems=_GUARDED,
)
WORKFLOW_BATCH: Final = Doc(
    summary="Compile 1 to 100 lists as a workflow",
    tag=_WORKFLOWS,
    body=AsyncBatchBody,
    example=BATCH,
    replies={202: ReplyDoc("The workflow is started.", told.WorkflowStarted)},
    problems=_GUARDED,
)
WORKFLOW_WARM: Final = Doc(
    summary="Compile popular lists before they are asked for",
    tag=_WORKFLOWS,
    body=WarmBody,
    body_required=False,
    example=WARM,
    replies={202: ReplyDoc("The workflow is started.", told.WorkflowStarted)},
    problems=_GUARDED,
)
WORKFLOW_CHECK: Final = Doc(
    summary="Check whether sources are there and whole",
    tag=_WORKFLOWS,
    body=HealthBody,
    body_required=False,
    example=CHECK,
    replies={202: ReplyDoc("The workflow is started.", told.WorkflowStarted)},
    problems=_GUARDED,
)
WORKFLOW_STATUS: Final = Doc(
    summary="How a workflow stands, and its result",
    tag=_WORKFLOWS,
    params={"type": _TYPE, "id": _RUN},
    replies={200: ReplyDoc("Its state, and what it came to.", told.WorkflowStatus)},
    problems=(404,),
)
WORKFLOW_EVENTS: Final = Doc(
    summary="What happened in a workflow",
    description="The last 100 events, kept for an hour. A run that is not known has none.",
    tag=_WORKFLOWS,
    params={"id": _RUN},
    query=EventsQuery,
    replies={200: ReplyDoc("The events, the earliest first.", told.WorkflowEvents)},
)
WORKFLOW_METRICS: Final = Doc(
    summary="How workflows went",
    tag=_WORKFLOWS,
    replies={200: ReplyDoc("Figures for each type.", told.WorkflowMetrics)},
)
LATEST_HEALTH: Final = Doc(
    summary="The last check of the sources",
    tag=_WORKFLOWS,
    replies={200: ReplyDoc("The report, with what rechecks have found since.", told.LatestHealth)},
)
METRICS: Final = Doc(
    summary="Requests of the last 30 minutes",
    tag=_FIGURES,
    replies={200: ReplyDoc("Counts, times and errors of each endpoint.", told.RequestFigures)},
)
PROMETHEUS: Final = Doc(
    summary="Counters for Prometheus",
    tag=_FIGURES,
    replies={200: ReplyDoc("The text format 0.0.4.", Media("text/plain"))},
)
TURNSTILE: Final = Doc(
    summary="Whether a challenge must be solved",
    tag=_ABOUT,
    replies={200: ReplyDoc("The site key, where one is set.", told.TurnstileConfig)},
)
