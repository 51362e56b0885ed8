"""The operator's routes of one zone: each row is a call, with what the API document says of it."""

from typing import Final

from sluice.core.errors import Invalid
from sluice.services.preload.discovery.observed_pages import ObservedReply
from sluice.services.preload.http.access import BATCH_ID, ZONE, AccessHandlers
from sluice.services.preload.http.requests import EnqueueBody, PurgeTarget, RulesBody
from sluice.services.preload.http.site_routes import EXAMPLE_URL
from sluice.services.preload.purge_lists.orders import PurgeAccepted
from sluice.services.preload.queue.batches import Batch
from sluice.services.preload.queue.dead_letters import FailedReply
from sluice.services.preload.queue.enqueue import AcceptedReply
from sluice.services.preload.queue.queue_summary import QueueReply
from sluice.services.preload.zone.config_publisher import Versions
from sluice.services.preload.zone.operator_calls import (
    DeletedReply,
    IdsBody,
    RegisteredReply,
    ReplayedReply,
    RulesReply,
    TrafficReply,
    UnregisteredReply,
)
from sluice.services.preload.zone.status import StatusReply
from sluice.web import Route
from sluice.web.operations import Operation, ReplyDoc
from sluice.web.parameters import PathParameter, Query, integer

OPERATOR: Final = "For the operator"
LIMIT: Final = integer("limit", 100, minimum=1, maximum=1000, about="How many at most.")
LISTING: Final = Query(LIMIT)
MAX_VERSION_DIGITS: Final = 9
_PATH: Final = "/api/v1/zones/:zone"


def _parse_version(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_VERSION_DIGITS:
        raise Invalid("the version must be a number from GET config/versions")
    return int(text)


VERSION: Final = PathParameter(
    "version",
    _parse_version,
    {"type": "string", "pattern": f"^[0-9]{{1,{MAX_VERSION_DIGITS}}}$"},
    "Its number.",
    "1",
)


def describe_call(name: str, summary: str, answer: str, reply: type, *, status: int = 200) -> Operation:
    """Return what most of these operations have in common."""
    return Operation(
        name,
        summary,
        {status: ReplyDoc(answer, reply)},
        tag=OPERATOR,
        path=(ZONE,),
        problems=(404,),
        security=("admin",),
    )


SHOW_CONFIG: Final = describe_call(
    "showZoneConfiguration", "The zone's configuration", "With all defaults filled in.", RegisteredReply
)
UNREGISTER: Final = describe_call(
    "unregisterZone",
    "Unregister a zone",
    "Its hosts, queue and configuration are deleted, and its stored pages in the minutes after.",
    UnregisteredReply,
)
LIST_VERSIONS: Final = describe_call(
    "listZoneConfigurations", "All versions of the zone's configuration", "The versions.", Versions
)
RESTORE: Final = describe_call(
    "restoreZoneConfiguration", "Restore an earlier configuration", "The zone's new configuration.", RegisteredReply
)._replace(path=(ZONE, VERSION))
CANCEL: Final = describe_call(
    "cancelBatch",
    "Cancel a batch",
    "The progress; pages that other batches want too, or that are being fetched, stay in the queue.",
    Batch,
)._replace(path=(ZONE, BATCH_ID))
LIST_FAILED: Final = describe_call(
    "listFailedPages", "Pages that failed for good", "The oldest first.", FailedReply
)._replace(query=LISTING)
REPLAY: Final = describe_call(
    "retryFailedPages", "Try failed pages again", "How many are in the queue again.", ReplayedReply
)._replace(body=IdsBody, body_required=False, example={"ids": [1]}, problems=(404, 409))
DELETE_FAILED: Final = describe_call(
    "deleteFailedPages", "Delete failed pages", "How many were deleted.", DeletedReply
)._replace(body=IdsBody, body_required=False, example={"ids": [1]})
ENQUEUE: Final = describe_call(
    "enqueuePages", "Warm pages by hand, or all known pages", "The pages are in the queue.", AcceptedReply, status=202
)._replace(body=EnqueueBody, example={"urls": [EXAMPLE_URL]}, problems=(404, 409))
SHOW_QUEUE: Final = describe_call(
    "showQueue", "What is in the queue", "How many pages of each priority, and the next ones.", QueueReply
)
PAUSE: Final = describe_call("pauseZone", "Pause the zone", "The zone's new status.", StatusReply)
RESUME: Final = describe_call("resumeZone", "Resume the zone", "The zone's new status.", StatusReply)
CHECK_ORIGIN: Final = describe_call(
    "checkOrigin",
    "Try whether warming reaches the origin",
    "The zone's status: its `origin_check` is pending until one request, sent as pages are warmed, has its answer.",
    StatusReply,
    status=202,
)
TEST_RULES: Final = describe_call(
    "explainRules",
    "Explain what would happen with a request",
    "Whether a copy may answer it, and whether the response may be stored; with the reasons.",
    RulesReply,
)._replace(
    body=RulesBody,
    example={
        "url": EXAMPLE_URL,
        "headers": {"Cookie": "theme=dark"},
        "response_headers": {"Cache-Control": "max-age=60"},
    },
)
LIST_OBSERVED: Final = describe_call(
    "listObservedPages",
    "Pages that differ between visitors",
    'What was compared while `cache_enabled` was "observe"; the pages that differ most often first.',
    ObservedReply,
)
SHOW_TRAFFIC: Final = describe_call(
    "showTraffic",
    "What the cache is worth",
    "Visits of the last 24 hours by what answered them, what the origin was spared, and how much of the site is warm.",
    TrafficReply,
)
PURGE_BY_HAND: Final = describe_call(
    "purgeZonePages",
    "Purge pages by tags, URLs, prefixes or all",
    "The purge is stored and will be carried out.",
    PurgeAccepted,
    status=202,
)._replace(body=PurgeTarget, example={"urls": [EXAMPLE_URL]}, problems=(404, 429))


def operator_routes(access: AccessHandlers) -> list[Route]:
    ask, ask_about, send = access.by_operator, access.by_operator_with_request, access.by_operator_with_body
    restore = ask_about(RESTORE, lambda zone, request: zone.restore_version(VERSION.read(request)))
    cancel = ask_about(CANCEL, lambda zone, request: zone.cancel_batch(BATCH_ID.read(request)))
    list_failed = ask_about(LIST_FAILED, lambda zone, request: zone.list_failed(LIST_FAILED.read(request)[LIMIT]))
    return [
        Route("GET", f"{_PATH}/config", ask(SHOW_CONFIG, lambda zone: zone.show_config())),
        Route("DELETE", f"{_PATH}/config", ask(UNREGISTER, lambda zone: zone.unregister())),
        Route("GET", f"{_PATH}/config/versions", ask(LIST_VERSIONS, lambda zone: zone.list_versions())),
        Route("POST", f"{_PATH}/config/versions/:version/restore", restore),
        Route("POST", f"{_PATH}/batches/:id/cancel", cancel),
        Route("GET", f"{_PATH}/failed", list_failed),
        Route("POST", f"{_PATH}/failed/replay", send(REPLAY, lambda zone, body: zone.replay_failed(body))),
        Route("DELETE", f"{_PATH}/failed", send(DELETE_FAILED, lambda zone, body: zone.delete_failed(body))),
        Route("POST", f"{_PATH}/enqueue", send(ENQUEUE, lambda zone, body: zone.enqueue(body))),
        Route("GET", f"{_PATH}/queue", ask(SHOW_QUEUE, lambda zone: zone.show_queue())),
        Route("POST", f"{_PATH}/pause", ask(PAUSE, lambda zone: zone.pause())),
        Route("POST", f"{_PATH}/resume", ask(RESUME, lambda zone: zone.resume())),
        Route("POST", f"{_PATH}/origin/check", ask(CHECK_ORIGIN, lambda zone: zone.check_origin())),
        Route("POST", f"{_PATH}/rules/test", send(TEST_RULES, lambda zone, body: zone.test_rules(body))),
        Route("GET", f"{_PATH}/observed", ask(LIST_OBSERVED, lambda zone: zone.list_observed())),
        Route("GET", f"{_PATH}/traffic", ask(SHOW_TRAFFIC, lambda zone: zone.show_traffic())),
        Route("POST", f"{_PATH}/purge", send(PURGE_BY_HAND, lambda zone, body: zone.purge_by_hand(body))),
    ]
