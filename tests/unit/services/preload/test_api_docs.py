"""What the routes declare, as far as it can be checked without a runtime."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from documents import build_worker_document
from sluice.core.json_text import encode_json
from sluice.core.models import parse_model
from sluice.core.preload.zone_config import ZoneConfig, parse_config
from sluice.services.preload.http.access import ZONE
from sluice.services.preload.http.configure import CONFIGURE, ZoneBody
from sluice.services.preload.http.operator_routes import ENQUEUE
from sluice.services.preload.http.requests import PreloadBody, PurgeBody
from sluice.services.preload.http.site_routes import CRAWL, LEARN, PRELOAD, PURGE
from sluice.web.operations import Operation, find_operation
from unit.services.preload.test_api import NoZones
from unit.services.preload.test_site_calls import new_key, send
from unit.services.preload.world import SITE, OriginReply, World

OPERATIONS = [find_operation(route) for route in NoZones().open().routes]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_example_is_taken(operation: Operation):
    """A route with a body has an example, and the model that serves accepts it unchanged."""
    assert (operation.body is None) == (operation.example is None)
    if operation.body is ZoneBody:
        parse_config(operation.example)
    elif operation.body:
        parse_model(operation.body, operation.example)


def test_examples_fit_together():
    """All examples use one zone, and pages on its hosts."""
    config = parse_config(CONFIGURE.example)
    bodies: list[Any] = [PRELOAD.example, PURGE.example]
    assert {each["zone_id"] for each in bodies} == {ZONE.example}
    pages = [*PRELOAD.example["urls"], *ENQUEUE.example["urls"], CRAWL.example["url"]]
    assert all(config.covers_url(url) for url in [*pages, LEARN.example["pages"][0]["url"]])


def test_zone_is_what_serves():
    """The documented configuration has the fields of the real one, and the signing key, which is removed before parsing."""
    documented, served = ZoneBody.model_fields, ZoneConfig.model_fields
    assert documented.keys() - served.keys() == {"signing_key"}
    assert all(documented[name].annotation == field.annotation for name, field in served.items())


@pytest.mark.parametrize("body", [PreloadBody, PurgeBody])
def test_names_are_described(body: type[PreloadBody | PurgeBody]):
    """The schema describes the form of a zone's id."""
    assert body.model_json_schema()["properties"]["zone_id"]["pattern"] == "^[A-Za-z0-9_-]{1,64}$"


async def collect_replies(here: World) -> dict[str, Any]:
    """Return a reply of each kind by the name of its type, of a zone with pages that succeed, fail and wait."""
    zone, page = here.zone, {"url": f"{SITE}/a"}
    preloaded = await here.preload("/a", "/kept", "/bad")
    await here.drain()
    purged = await here.purge(urls=[f"{SITE}/a"])
    batch_id = await here.enqueue("/c")
    await zone.check_origin()
    await zone.observe(f"{SITE}/a", "", "digest", 60)
    log, alerts = await here.rows("SELECT * FROM preload_log"), await here.rows("SELECT * FROM preload_alerts")
    pages = await here.rows("SELECT * FROM cached_pages")
    assert all([log, alerts, pages])
    return {
        "AcceptedReply": preloaded.reply,
        "PurgeAccepted": purged.reply,
        "PurgeProgress": await zone.show_purge(purged.reply["purge_id"]),
        "CrawlAccepted": (await send(here, "crawl_for_site", {"idempotency_key": new_key()})).reply,
        "LearnedReply": (await send(here, "store_site_facts", {"idempotency_key": new_key(), "pages": [page]})).reply,
        "AgentReply": (await send(here, "set_agent", {"idempotency_key": new_key()})).reply,
        "Batch": await zone.show_batch(batch_id),
        "StatusReply": await zone.show_status(),
        "TrafficReply": await zone.show_traffic(),
        "QueueReply": await zone.show_queue(),
        "FailedReply": await zone.list_failed(10),
        "Versions": await zone.list_versions(),
        "RegisteredReply": await zone.show_config(),
        "ObservedReply": await zone.list_observed(),
        "RulesReply": await zone.test_rules(encode_json(page)),
        "LogReply": {"log": log},
        "AlertsReply": {"alerts": alerts},
        "PagesReply": {"pages": pages},
        "ReplayedReply": await zone.replay_failed("{}"),
        "DeletedReply": await zone.delete_failed("{}"),
        "UnregisteredReply": await zone.unregister(),
    }


def list_reply_types() -> set[str]:
    """Return the names of all types that an operation of a zone declares for its replies."""
    contents = [content for each in OPERATIONS for reply in each.replies.values() for content in reply.contents]
    return {content.__name__ for content in contents if isinstance(content, type)}


async def test_replies_fit_their_types():
    """Every reply, also one that is stored as text, has the members that the API document names, and no others."""
    here = await World(preload_retry_max=0, preload_circuit_breaker_threshold=1).register()
    here.origin.scripts[f"{SITE}/bad"] = OriginReply(500)
    components = build_worker_document("edge-preload")["components"]
    for schema in components["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    replies = await collect_replies(here)
    assert replies.keys() == list_reply_types() - {"ZonesReply"}
    for name, reply in replies.items():
        validator = Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components})
        assert [error.message for error in validator.iter_errors(reply)] == [], name
