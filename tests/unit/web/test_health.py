"""The health reply: ok, or which binding fails."""

from sluice.web import Check, build_health_reply
from unit.web.calls import parsed


def test_all_well_is_200():
    """When every binding answers, the status is ok."""
    reply = build_health_reply(
        "news", "1.2.3", {"CACHE": Check("kv", ok=True), "DB": Check("d1", ok=True, detail="3 tables")}
    )
    assert reply.status == 200
    assert parsed(reply) == {
        "name": "news",
        "version": "1.2.3",
        "status": "ok",
        "bindings": {"CACHE": {"kind": "kv", "ok": True}, "DB": {"kind": "d1", "ok": True, "detail": "3 tables"}},
    }


def test_one_failure_is_503():
    """One binding that fails makes the whole degraded, and the reply names it."""
    reply = build_health_reply(
        "news", "1", {"A": Check("kv", ok=True), "B": Check("queue", ok=False, error="is not bound")}
    )
    assert reply.status == 503
    assert parsed(reply)["status"] == "degraded"
    assert parsed(reply)["bindings"]["B"] == {"kind": "queue", "ok": False, "error": "is not bound"}


def test_nothing_to_check_is_well():
    """A Worker without bindings is ok."""
    assert build_health_reply("tail", "1", {}).status == 200
