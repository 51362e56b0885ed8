"""Calls to a zone's object: each can travel, and what an isolate remembers is forgotten when the configuration changes."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sluice.core.errors import BadField, Invalid, NotFound, SluiceError, TooManyRequests, Unavailable
from sluice.core.json_text import encode_json
from sluice.core.preload.purges import purge_for_removed_zone
from sluice.core.preload.request_signing import SignedRequest
from sluice.core.remote import Message, answer_calls, read_signature
from sluice.services.preload.http.access import EXAMPLE_ID
from sluice.services.preload.zone.calls import CONFIG_CHANGES, RemoteZones
from sluice.services.preload.zone.signed_calls import SignedReply
from sluice.services.preload.zone.zone_object import ZoneCalls
from unit.services.preload.world import SITE, UNUSED, ZONE, World

CALLS = sorted(name for name in dir(ZoneCalls) if not name.startswith("_") and callable(getattr(ZoneCalls, name)))
SIGNED = SignedRequest("POST", "/api/v1/preload", "1700000000", "0" * 32, "ab", "cd")


class RecordingZone:
    """Answers every signed call with the same value, and the others with nothing; or raises."""

    def __init__(self, answer: SignedReply | None = None, error: SluiceError | None = None) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.forgotten = 0
        self._answer = answer
        self._error = error

    def __getattr__(self, name: str) -> Any:
        async def call(**arguments: Any) -> Any:
            self.calls.append((name, arguments))
            if self._error:
                raise self._error
            return self._answer if "signed" in arguments else None

        return call

    def connect(self) -> ZoneCalls:
        handlers: Any = self

        async def send(zone_id: str, name: str, message: Message) -> Message:
            assert zone_id == "z"
            return await answer_calls(ZoneCalls)(handlers, name, message)

        return RemoteZones(UNUSED, UNUSED, send, self._forget).get("z")

    def _forget(self) -> None:
        self.forgotten += 1


@pytest.mark.parametrize("name", CALLS)
def test_every_call_travels(name: str):
    """The arguments and the result of each public method can be sent."""
    assert read_signature(ZoneCalls, name).name == name


async def test_signed_call():
    """A signed request, its body and its reply arrive as they were."""
    zone = RecordingZone(SignedReply('{"learned":1}', replayed=True))
    body = '{"urls":["https://example.com/ä"]}'
    assert await zone.connect().store_site_facts(SIGNED, body) == SignedReply('{"learned":1}', replayed=True)
    assert zone.calls == [("store_site_facts", {"signed": SIGNED, "body": body})]


async def test_visits():
    """Counts arrive as they were."""
    zone = RecordingZone()
    await zone.connect().count_visits({"edge": [1, 2, 3.5]}, {"https://example.com/ä": 1})
    counts = {"layers": {"edge": [1, 2, 3.5]}, "pages": {"https://example.com/ä": 1}}
    assert zone.calls == [("count_visits", counts)]


@pytest.mark.parametrize("error", [None, NotFound("no zone")])
@pytest.mark.parametrize("name", CALLS)
async def test_changes_are_forgotten(name: str, error: SluiceError | None):
    """A call that changes the configuration clears what the isolate remembers, unless it is refused."""
    zone, here = RecordingZone(SignedReply("{}", replayed=False), error), await prepare_zone()
    await asyncio.gather(getattr(zone.connect(), name)(*ARGUMENTS[name](here)), return_exceptions=True)
    assert [called for called, _ in zone.calls] == [name]
    assert zone.forgotten == (1 if name in CONFIG_CHANGES and not error else 0)


# What a registered zone is asked for by each call; a new call needs a row here.
PAGE, BATCH_ID, PURGE_ID = f"{SITE}/a", f"preload-{EXAMPLE_ID}", f"purge-{EXAMPLE_ID}"
ARGUMENTS: dict[str, Callable[[World], tuple[Any, ...]]] = {
    "cancel_batch": lambda _: (BATCH_ID,),
    "check_origin": lambda _: (),
    "claim_refresh": lambda _: (PAGE, ""),
    "configure": lambda here: (encode_json({**here.config, "preload_rps_limit": 9}),),
    "count_visits": lambda _: ({"edge": [1, 2, 3.5]}, {PAGE: 1}),
    "crawl_for_site": lambda here: sign_body(here, {"idempotency_key": f"sitemap-{EXAMPLE_ID}"}),
    "crawl_sitemap": lambda _: ("{}",),
    "delete_failed": lambda _: ("{}",),
    "enqueue": lambda _: (encode_json({"urls": [PAGE]}),),
    "is_breaker_open": lambda _: (),
    "list_failed": lambda _: (10,),
    "list_observed": lambda _: (),
    "list_versions": lambda _: (),
    "observe": lambda _: (PAGE, "", "digest", 60),
    "pause": lambda _: (),
    "preload": lambda here: sign_body(here, {"zone_id": ZONE, "idempotency_key": BATCH_ID, "urls": [PAGE]}),
    "purge": lambda here: sign_body(here, {"zone_id": ZONE, "idempotency_key": PURGE_ID, "urls": [PAGE]}),
    "purge_by_hand": lambda _: (encode_json({"urls": [PAGE]}),),
    "renew_page": lambda _: (PAGE, ""),
    "replay_failed": lambda _: ("{}",),
    "report_redirect_loop": lambda _: (PAGE,),
    "report_unreachable": lambda _: ("refused",),
    "restore_version": lambda _: (1,),
    "resume": lambda _: (),
    "set_agent": lambda here: sign_body(
        here, {"idempotency_key": f"agent-{EXAMPLE_ID}", "origin_cron_path": "/cron", "leaves": "deactivated"}
    ),
    "settle": lambda _: (),
    "show_batch": lambda _: (BATCH_ID,),
    "show_config": lambda _: (),
    "show_keys": lambda _: (),
    "show_purge": lambda _: (PURGE_ID,),
    "show_purges": lambda _: (),
    "show_queue": lambda _: (),
    "show_status": lambda _: (),
    "show_to_site": lambda here: (sign_body(here, {})[0], "status", ""),
    "show_traffic": lambda _: (),
    "store_page_facts": lambda _: (encode_json({"pages": [{"url": PAGE, "post_id": 1}]}),),
    "store_site_facts": lambda here: sign_body(
        here, {"idempotency_key": f"pages-{EXAMPLE_ID}", "pages": [{"url": PAGE}]}
    ),
    "suggest_page": lambda _: (PAGE,),
    "test_rules": lambda _: (encode_json({"url": PAGE}),),
    "tick": lambda _: (),
    "unregister": lambda _: (),
}


def sign_body(here: World, body: dict[str, Any]) -> tuple[SignedRequest, str]:
    return here.sign(body, "/api/v1/x"), encode_json(body)


class KnownZone(World):
    """A zone whose isolate counts how often it forgets what it remembers."""

    forgotten = 0

    def connect(self) -> ZoneCalls:
        def forget() -> None:
            self.forgotten += 1

        return RemoteZones(UNUSED, UNUSED, self.forward, forget).get(ZONE)

    @property
    def known(self) -> tuple[object, ...]:
        """What isolates remember of the zone."""
        return self.services.state.config, self.services.state.version


async def prepare_zone() -> KnownZone:
    """Return a zone with two versions of its configuration, a batch and a purge."""
    here = KnownZone()
    await here.register()
    here.config |= {"preload_rps_limit": 7}
    await here.register()
    now = here.clock.now()
    here.services.batches.open(BATCH_ID, "manual", now)
    here.services.purger.accept(purge_for_removed_zone(PURGE_ID, now))
    return here


def test_every_call_has_arguments():
    """A new call says what it is called with, so that the tests below hold it to account."""
    assert ARGUMENTS.keys() == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
async def test_every_change_of_the_configuration_is_declared(name: str):
    """A call succeeds in a zone that is registered; where it changes the configuration, its isolate forgets the former one."""
    here = await prepare_zone()
    before = here.known
    await getattr(here.connect(), name)(*ARGUMENTS[name](here))
    assert (name in CONFIG_CHANGES) == (here.known != before)
    assert here.forgotten == (name in CONFIG_CHANGES)


def dump(here: World) -> dict[str, list[Any]]:
    tables = [str(row["name"]) for row in here.sql.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: [dict(row) for row in here.sql.rows(f"SELECT * FROM {name}")] for name in tables}  # noqa: S608


# The calls that ask nothing of a configuration.
FOR_ANY_ZONE = {
    "configure": "it registers the zone",
    "claim_refresh": "the next page that is served shows that there is no zone",
    "is_breaker_open": "so does it here",
    "observe": "it compares two replies of an origin",
    "show_keys": "a stranger's request is verified with the keys of all zones",
}


@pytest.mark.parametrize("name", CALLS)
async def test_a_zone_without_registration_is_refused(name: str):
    """Nothing is done in a zone that was never registered, or no longer is; nor does its alarm ring for it."""
    here = KnownZone()
    if name in FOR_ANY_ZONE:
        await getattr(here.connect(), name)(*ARGUMENTS[name](here))
        return
    before = dump(here)
    with pytest.raises(NotFound, match="is not registered"):
        await getattr(here.connect(), name)(*ARGUMENTS[name](here))
    assert dump(here) == before
    assert here.storage.alarm_ms is None


async def test_errors():
    """An error of the object is raised at the caller as what it was: Retry-After and bad fields survive."""
    with pytest.raises(TooManyRequests, match="slow down") as limited:
        await RecordingZone(error=TooManyRequests("slow down", 17)).connect().preload(SIGNED, "{}")
    assert limited.value.retry_after_s == 17
    fields = [BadField("urls[0]", "is not a page"), BadField("trigger", "is unknown")]
    with pytest.raises(Invalid) as invalid:
        await RecordingZone(error=Invalid.from_fields(fields)).connect().enqueue("{}")
    assert list(invalid.value.fields) == fields
    for error in (NotFound("no zone"), Unavailable("D1 is away")):
        with pytest.raises(type(error), match=str(error)):
            await RecordingZone(error=error).connect().show_status()
