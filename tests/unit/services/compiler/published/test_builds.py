"""Builds of published lists: versions, last good copies, alerts, refusals, patches, and whose turn it is."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from fakes.workflows import FakeStep
from sluice.core.compiler.published.list_names import derive_patch_id
from sluice.core.compiler.published.patches import apply_patch
from sluice.core.errors import ConfigError, Conflict, Invalid, NotAccepted, NotFound, TimedOut, TooManyRequests
from sluice.services.compiler.published.builds.build_queue import LEASE_MS
from sluice.services.compiler.published.declared import read_declared_lists
from sluice.services.compiler.published.differences import MAX_LISTED, compare_rules
from unit.services.compiler.published.list_bench import LOST, Answer, ListBench, make_list, rules_of

A, B = "https://a.example/list.txt", "https://b.example/list.txt"
NAME = "my-list"


async def build(answers: dict[str, Answer] | None = None, **more: object) -> ListBench:
    bench = ListBench(answers or {A: make_list(100), B: make_list(50, "b")})
    await bench.put(NAME, *bench.sites.answers, **more)
    await bench.run_all()
    return bench


async def test_first_build():
    """The list is served with its header, its rules and its formats."""
    bench = await build(formats=["hosts", "sing-box"])
    text = await bench.text(f"{NAME}.txt")
    assert len(rules_of(text)) == 150
    assert "! Version: 1\n" in text
    assert "! State: fresh\n" in text
    assert "! Homepage: https://lists.example/lists/my-list\n" in text
    assert (await bench.text(f"{NAME}.hosts")).count("0.0.0.0 ") == 150
    assert json.loads(await bench.text(f"{NAME}.sing-box"))["version"] == 1
    known = await bench.lists.load(NAME)
    assert (known.version, known.state) == (1, "fresh")
    assert [row["entries"] for row in known.published["formats"]] == [150, 150, 150]
    assert bench.purged == ["list-my-list", f"patches-{derive_patch_id(NAME)}"]


async def test_source_that_comes_back():
    """A source that was taken out of a list and put back with the same bytes is stored again."""
    bench = await build()
    for sources in ((A,), (A, B)):
        build_id = await bench.put(NAME, *sources)
        await bench.run_all()
        row = await bench.builds.find(build_id)
        assert row is not None
        assert (row["outcome"], row["reason"]) == ("published", None)
    assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 150


async def test_unchanged():
    """A build that changes neither rules nor state makes no version, and compiles nothing."""
    bench = await build()
    before = await bench.text(f"{NAME}.txt")
    assert await bench.rebuild(NAME) == "unchanged"
    assert await bench.text(f"{NAME}.txt") == before
    bench.sites.answers[A] = b"! a new comment\n" + make_list(100)
    assert await bench.rebuild(NAME) == "unchanged"
    assert len(await bench.lists.load_versions(NAME)) == 1


@pytest.mark.parametrize(("validator", "header"), [("has_etags", "if-none-match"), ("has_dates", "if-modified-since")])
async def test_unchanged_by_its_validator(validator: str, header: str):
    """A source that has not changed is asked for with its ETag or its date, and only with what it has."""
    bench = ListBench({A: make_list(100)})
    setattr(bench.sites, validator, True)
    await bench.put(NAME, A)
    await bench.run_all()
    assert await bench.rebuild(NAME) == "unchanged"
    sent = bench.sites.requests[-1][1]
    assert {name for name in sent if name.startswith("if-")} == {header}
    bench.sites.answers[A] = make_list(101)
    assert await bench.rebuild(NAME) == "published"


FAILURES: dict[str, Answer] = {
    "404": (404, b"404: Not Found"),
    "403 page": (403, b"<!DOCTYPE html><html><title>Just a moment...</title></html>"),
    "page": b"<!DOCTYPE html><html><head><title>404</title></head></html>",
    "apology": b"This account has been suspended.\n",
    "json": b'{"message":"Not Found"}',
    "nothing": b"",
    "comments": b"! only\n! comments\n",
    "shrunk": make_list(1),
    "truncated": make_list(90)[:-6],
    "slow": TimedOut("it did not answer within 5 s"),
    "reset": LOST,
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_failing_source(failure: str):
    """A source that fails is taken from its last good copy; the list says so, and stays whole."""
    bench = await build()
    good = rules_of(await bench.text(f"{NAME}.txt"))
    bench.sites.answers[A] = FAILURES[failure]
    assert await bench.rebuild(NAME) == "published"
    text = await bench.text(f"{NAME}.txt")
    assert rules_of(text) == good
    assert "! State: degraded\n" in text
    assert f"! Source: {A}: last good copy of 2" in text
    known = await bench.lists.load(NAME)
    assert known.state == "degraded"
    assert [(source["state"], source["ruleCount"]) for source in known.sources] == [("last-good", 100), ("ok", 50)]


async def test_incident():
    """Over twenty rebuilds with every kind of failure: one version more, one alert, one recovery."""
    bench = await build()
    for failure in [*FAILURES.values(), *list(FAILURES.values())[:9]]:
        bench.sites.answers[A] = failure
        await bench.rebuild(NAME)
        assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 150
    assert (await bench.lists.load(NAME)).version == 2
    bench.sites.answers[A] = make_list(101)
    assert await bench.rebuild(NAME) == "published"
    assert await bench.rebuild(NAME) == "unchanged"
    alerts = [json.loads(alert) for alert in bench.sites.alerts]
    assert [(alert["type"], alert["list"]) for alert in alerts] == [
        ("list-degraded", NAME),
        ("list-recovered", NAME),
    ]
    assert alerts[0]["sources"][0]["source"] == A


async def test_alert_is_repeated_until_received():
    """An alert that the webhook did not take is sent by a later build."""
    bench = await build()
    bench.sites.answers[A] = LOST
    bench.sites.hook_status = 500
    await bench.rebuild(NAME)
    bench.sites.hook_status = 200
    bench.sites.alerts.clear()
    await bench.rebuild(NAME)
    await bench.rebuild(NAME)
    assert len(bench.sites.alerts) == 1


async def test_undelivered_alerts_keep_their_order():
    """Alerts of several lists that the webhook did not take are sent later, the oldest first."""
    bench = await build()
    await bench.put("another", B)
    await bench.run_all()
    bench.sites.hook_status = 500
    for source, name in ((B, "another"), (A, NAME)):
        bench.sites.answers[source] = LOST
        await bench.rebuild(name)
    bench.sites.hook_status = 200
    bench.sites.alerts.clear()
    await bench.rebuild(NAME)
    assert [json.loads(alert)["list"] for alert in bench.sites.alerts] == ["another", NAME]


async def test_no_webhook():
    """Without a webhook an alert waits in the database, and nothing is sent anywhere."""
    bench = await build()
    bench.workflow = replace(bench.workflow, alerts=replace(bench.workflow.alerts, url=""))
    bench.sites.answers[A] = LOST
    assert await bench.rebuild(NAME) == "published"
    assert "" not in [url for url, _ in bench.sites.requests]
    rows = await bench.database.all("select delivered_ms from published_alerts")
    assert [row["delivered_ms"] for row in rows] == [None]


async def test_alert_concerns_one_list():
    """Another list, which was fresh all the time, tells of no recovery."""
    bench = await build()
    await bench.put("another", B)
    await bench.run_all()
    bench.sites.answers[A] = LOST
    await bench.rebuild(NAME)
    bench.sites.alerts.clear()
    assert await bench.rebuild("another") == "unchanged"
    assert bench.sites.alerts == []


async def test_mirrors():
    """A mirror is asked before the copy is taken; a pinned one only serves the pinned bytes."""
    mirror = "https://mirror.example/list.txt"
    bench = ListBench({A: make_list(100)})
    await bench.put(NAME, A, mirrors={A: [{"address": f"{mirror}?1", "sha256": "0" * 64}, f"{mirror}?2"]})
    await bench.run_all()
    bench.sites.answers |= {A: LOST, f"{mirror}?1": make_list(120), f"{mirror}?2": make_list(110)}
    assert await bench.rebuild(NAME) == "published"
    text = await bench.text(f"{NAME}.txt")
    assert len(rules_of(text)) == 110
    assert f"! Source: {A}: mirror {mirror} (" in text
    source = (await bench.lists.load(NAME)).sources[0]
    assert source["state"] == "mirror"
    assert "pinned SHA-256" in (source["reason"] or "")
    assert "?" not in text


async def test_copy_expires():
    """A copy serves thirty days; without one the list goes on with its other sources."""
    bench = await build()
    bench.sites.answers[A] = LOST
    bench.clock.advance(31 * 24 * 3600)
    assert await bench.rebuild(NAME) == "published"
    text = await bench.text(f"{NAME}.txt")
    assert len(rules_of(text)) == 50
    assert f"! Source: {A}: missing (" in text


async def test_refused():
    """A build below minRules is refused: the old version is served, and the state is failed."""
    bench = await build(minRules=120)
    bench.sites.answers[A] = make_list(60)
    assert await bench.rebuild(NAME) == "refused"
    assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 150
    assert (await bench.lists.load(NAME)).state == "failed"


async def test_never_built():
    """Without any rules there is nothing to serve, and the address says so."""
    bench = await build({A: LOST})
    stored = await bench.bucket.head(f"published/at/{NAME}.txt")
    assert stored is not None
    assert stored.custom_metadata == {"unbuilt": "1"}
    row = await bench.builds.find_last(NAME)
    assert row is not None
    assert row["outcome"] == "failed"


async def test_source_counts():
    """The counts of a source are kept, so that slow shrinking is seen."""
    bench = await build()
    for size in (90, 80):
        bench.sites.answers[A] = make_list(size)
        await bench.rebuild(NAME)
    assert [size for _, size in (await bench.lists.load_counts(NAME))[A]] == [80, 90, 100]


async def test_patches_lead_to_the_newest_version():
    """Whoever has an old version reaches the newest one by the patches that the headers name."""
    bench = await build()
    first = (await bench.text(f"{NAME}.txt")).encode()
    for size in (110, 105, 130):
        bench.sites.answers[A] = make_list(size)
        await bench.rebuild(NAME)
    text = first
    for _ in range(3):
        line = next(line for line in text.decode().split("\n") if line.startswith("! Diff-Path: "))
        path = line.removeprefix("! Diff-Path: ").removesuffix("#list")
        assert path.startswith(f"patches/{derive_patch_id(NAME)}/")
        patch = await bench.bucket.get_bytes(f"published/{path}")
        assert patch is not None
        text = apply_patch(text, patch)
    assert text.decode() == await bench.text(f"{NAME}.txt")


async def test_versions_are_forgotten():
    """The last thirty versions are kept, with their patches; nothing else stays."""
    bench = ListBench({A: make_list(5)})
    await bench.put(NAME, A)
    await bench.run_all()
    for size in range(6, 40):
        bench.sites.answers[A] = make_list(size)
        bench.clock.advance(24 * 3600)
        assert await bench.rebuild(NAME) == "published"
    versions = await bench.lists.load_versions(NAME)
    assert [one.version for one in versions] == list(range(35, 5, -1))
    keys = [stored.key async for stored in bench.bucket.objects("published/")]
    kinds = [key.split("/")[1] for key in keys]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "at": 1, "versions": 30, "patches": 29, "index": 1, "copies": 1,
    }  # fmt: skip


async def test_rollback():
    """The rules of an older version become a new one, and stay until a source changes."""
    bench = await build()
    bench.sites.answers[A] = make_list(120)
    await bench.rebuild(NAME)
    await bench.operator.roll_back(NAME, 1, bench.ticket())
    await bench.run_all()
    text = await bench.text(f"{NAME}.txt")
    assert "! Version: 3\n" in text
    assert len(rules_of(text)) == 150
    assert await bench.rebuild(NAME) == "unchanged"
    changes = await bench.queries.compare_versions(NAME, 2, 3)
    assert changes["added"] == []
    assert len(changes["removed"]) == 20


async def test_format_no_longer_asked_for():
    """A format that the definition no longer names is removed from its address."""
    bench = await build(formats=["hosts"])
    await bench.put(NAME, A, B)
    await bench.run_all()
    assert await bench.bucket.head(f"published/at/{NAME}.hosts") is None
    assert await bench.bucket.head(f"published/at/{NAME}.txt")


async def test_waiting_builds():
    """A rebuild that is asked for while one runs waits behind it and has its own id."""
    bench = await build()
    first, second = (
        await bench.operator.rebuild(NAME, bench.ticket()),
        await bench.operator.rebuild(NAME, bench.ticket()),
    )
    assert first != second
    assert not await bench.builds.claim(NAME, second)
    assert await bench.builds.claim(NAME, first)
    assert not await bench.builds.claim(NAME, second)
    await bench.run_instance(first)
    assert await bench.builds.claim(NAME, second)


async def test_last_build():
    """The build that began last is shown; of two that began at once, the one that was asked for later."""
    bench = await build()
    bench.clock.advance(1)
    await bench.rebuild(NAME)
    last = await bench.builds.find_last(NAME)
    assert last is not None
    assert last["outcome"] == "unchanged"
    asked = []
    for _ in range(2):
        bench.clock.advance(0.001)
        asked.append(await bench.operator.rebuild(NAME, bench.ticket()))
    await bench.run_all()
    last = await bench.builds.find_last(NAME)
    assert last is not None
    assert last["id"] == asked[1]


async def test_lists_do_not_wait_for_each_other():
    """Ten builds of a list may wait behind one; those of another list, its last build and its claims do not count."""
    bench = await build()
    await bench.put("another", A)
    await bench.run_all()
    for number in range(11):
        bench.clock.advance(1)
        await bench.builds.add("another", f"another-{number}")
    with pytest.raises(TooManyRequests):
        await bench.builds.add("another", "another-11")
    await bench.builds.add("another", "another-3")
    assert await bench.builds.claim("another", "another-0")
    assert not await bench.builds.claim("another", "another-1")
    assert await bench.rebuild(NAME) == "unchanged"
    last = await bench.builds.find_last(NAME)
    assert last is not None
    assert last["list"] == NAME
    assert len(await bench.builds.load_waiting()) == 11
    bench.clock.advance(4 * 3600)
    assert await bench.rebuild(NAME) == "unchanged"
    assert len(await bench.builds.load_waiting()) == 11, "what another list has forgotten is its own business"


async def test_withdrawn_build():
    """A build that could not be started goes; one that has begun, and those behind it, stay."""
    bench = await build()
    for build_id in ("begun", "waits"):
        await bench.builds.add(NAME, build_id)
        bench.clock.advance(1)
    assert await bench.builds.claim(NAME, "begun")
    await bench.builds.withdraw("begun")
    assert [row["id"] for row in await bench.builds.load_waiting()] == ["begun", "waits"]
    await bench.builds.withdraw("waits")
    assert [row["id"] for row in await bench.builds.load_waiting()] == ["begun"]


async def test_forgotten_build():
    """A build that nobody has started within three hours, and one whose lease has ended, make room; others do not."""
    bench = await build()
    await bench.builds.add(NAME, "forgotten")
    bench.clock.advance(3 * 3600)
    await bench.builds.add(NAME, "new")
    assert not await bench.builds.claim(NAME, "new")
    bench.clock.advance(0.001)
    assert await bench.builds.claim(NAME, "new")
    row = await bench.builds.find("forgotten")
    assert row is not None
    assert (row["outcome"], "did not continue" in row["reason"]) == ("failed", True)
    await bench.builds.add(NAME, "next")
    bench.clock.advance(LEASE_MS / 1000)
    assert not await bench.builds.claim(NAME, "next")
    bench.clock.advance(0.001)
    assert await bench.builds.claim(NAME, "next")
    bench.clock.advance(LEASE_MS / 1000 - 1)
    await bench.builds.renew("next")
    bench.clock.advance(LEASE_MS / 1000 - 1)
    await bench.builds.add(NAME, "last")
    assert not await bench.builds.claim(NAME, "last")


async def test_lost_builds_start_in_their_order():
    """Builds that have only their rows are started by the cron as they were asked for."""
    bench = await build()
    lost = ["build-z", "build-a"]
    for build_id in lost:
        await bench.builds.add(NAME, build_id)
        bench.clock.advance(1)
    bench.clock.advance(11 * 60)
    await bench.operator.run_due(0)
    assert [name for name in bench.engine.instances if name in lost] == lost


async def test_abandoned_build():
    """A build that has not moved for long makes room, and can publish nothing afterwards."""
    bench = await build()
    first, second = (
        await bench.operator.rebuild(NAME, bench.ticket()),
        await bench.operator.rebuild(NAME, bench.ticket()),
    )
    assert await bench.builds.claim(NAME, first)
    bench.clock.advance(3600)
    assert await bench.builds.claim(NAME, second)
    with pytest.raises(Conflict):
        await bench.builds.renew(first)


async def test_deleted():
    """Nothing of a deleted list stays, and all of another one does."""
    bench = await build(formats=["hosts"])
    await bench.put("another", A)
    await bench.run_all()
    await bench.operator.delete(NAME)
    tables = {
        "published_lists": "name", "published_builds": "list", "published_versions": "list", "published_copies": "list",
        "published_counts": "list",
    }  # fmt: skip
    for table, column in tables.items():
        rows = await bench.database.all(f"select distinct {column} as list from {table}")  # noqa: S608 - only constants
        assert [row["list"] for row in rows] == ["another"], table
    assert len(rules_of(await bench.text("another.txt"))) == 100
    assert await bench.rebuild("another") == "unchanged"
    await bench.operator.delete("another")
    assert [stored.key async for stored in bench.bucket.objects("published/")] == []
    assert await bench.lists.load_all() == []


@pytest.mark.parametrize(
    "step",
    ["fetch-sources", "compile", "write-text", "list-formats", "write-adblock", "change-addresses", "record", "end"],
)
async def test_definition_that_is_put_while_a_build_runs(step: str, monkeypatch: pytest.MonkeyPatch):
    """The build makes the whole list of before, whenever the new definition comes; the next one makes that of after."""
    other = "https://c.example/list.txt"
    bench = ListBench({A: make_list(1), B: make_list(1, "b"), other: make_list(1, "c")})
    first = await bench.put(NAME, A, B, formats=["hosts"])
    later: list[str] = []
    do = FakeStep.do

    def put_before(here: FakeStep, name: str, *, config: dict[str, Any]) -> Any:
        def decorate(work: Any) -> Any:
            async def run() -> Any:
                if name == step and not later:
                    later.append(await bench.put(NAME, B, other, minRules=2))
                return await do(here, name, config=config)(work)()

            return run

        return decorate

    monkeypatch.setattr(FakeStep, "do", put_before)
    await bench.run_instance(first)
    assert rules_of(await bench.text(f"{NAME}.txt")) == ["||a0.example^", "||b0.example^"]
    published = (await bench.lists.load(NAME)).published
    assert [row["format"] for row in published["formats"]] == ["adblock", "hosts"]
    await bench.run_all()
    assert rules_of(await bench.text(f"{NAME}.txt")) == ["||b0.example^", "||c0.example^"]
    builds = [await bench.builds.find(build_id) for build_id in (first, *later)]
    assert [(row["outcome"], row["definition"]) for row in builds if row] == [("published", None)] * 2


async def test_deleted_while_it_is_built():
    """A build whose list is deleted leaves nothing behind."""
    bench = await build()
    build_id = await bench.operator.rebuild(NAME, bench.ticket())
    assert await bench.builds.claim(NAME, build_id)
    await bench.operator.delete(NAME)
    await bench.run_all()
    assert [stored.key async for stored in bench.bucket.objects("published/")] == []


async def test_declared_lists():
    """A declared list is stored and built by the cron, and cannot be changed by requests."""
    definition = {"configuration": {"name": "D", "sources": [{"source": A}]}}
    declared = read_declared_lists(json.dumps({"declared": definition}))
    bench = ListBench({A: make_list(3)}, declared)
    await bench.operator.run_due(round(bench.clock.now() * 1000))
    await bench.run_all()
    assert len(rules_of(await bench.text("declared.txt"))) == 3
    with pytest.raises(Conflict, match=r"lists\.json"):
        await bench.operator.delete("declared")
    with pytest.raises(Conflict):
        await bench.put("declared", A)


async def test_malformed_declarations():
    """They stop no list that is stored: it is built when it is due, and shown."""
    bench = await build(schedule="0 * * * *")
    bench.operator = replace(bench.operator, load_declared=partial(read_declared_lists, "{"))
    created = len(bench.engine.instances)
    await bench.operator.run_due(round(bench.clock.now() * 1000))
    assert len(bench.engine.instances) == created + 1
    assert [name for name, _ in bench.log.errors] == ["list.schedule_failed"]


async def test_schedule():
    """The cron starts each due list once an hour, to begin in its own minute."""
    bench = await build(schedule="0 3 * * *")
    created = len(bench.engine.instances)
    three = 1_800_000_000_000 // 86_400_000 * 86_400_000 + 3 * 3_600_000
    for at in (three - 3_600_000, three, three):
        await bench.operator.run_due(at)
    assert len(bench.engine.instances) == created + 1
    instance = list(bench.engine.instances.values())[-1]
    assert instance.params["list"] == NAME
    await bench.run_all()
    assert instance.output["outcome"] == "unchanged"


async def test_build_that_is_not_stored_is_not_accepted():
    """An engine that says yes and stores nothing gives NotAccepted, and the next build does not wait for the lost one."""
    bench = await build()
    bench.engine.full = True
    with pytest.raises(NotAccepted):
        await bench.operator.rebuild(NAME, bench.ticket())
    bench.engine.full = False
    assert await bench.rebuild(NAME) == "unchanged"


async def collect_state(bench: ListBench) -> list[Any]:
    """Return what is stored of the list and its builds, and what readers get."""
    tables = ("published_lists", "published_builds", "published_versions", "published_alerts")
    rows = [await bench.database.all(f"select * from {table}") for table in tables]  # noqa: S608 - only constants
    return [*rows, await bench.text(f"{NAME}.txt"), await bench.text(f"{NAME}.hosts")]


@pytest.mark.parametrize(
    ("step", "lost", "reason"),
    [
        ("write-text", "builds/{id}/rules", "the rules of {id} are no longer stored"),
        ("write-text", "builds/{id}/index", "the index of {id} is no longer stored"),
        ("write-hosts", "versions/my-list/2", "version 2 of my-list is no longer stored"),
        ("change-addresses", "builds/{id}/hosts", "format hosts of {id} is no longer stored"),
    ],
)
async def test_part_that_is_lost_between_two_steps(step: str, lost: str, reason: str):
    """The build fails and says what is missing; the address of that format keeps its version, and the next build is whole."""
    bench = await build(formats=["hosts"])
    before = await collect_state(bench)
    bench.sites.answers[A] = make_list(120)
    bench.clock.advance(3600)
    build_id = await bench.operator.rebuild(NAME, bench.ticket())
    do = FakeStep.do

    def lose(steps: FakeStep, name: str, *, config: dict[str, Any]) -> Any:
        if name == step:
            key = "published/" + lost.format(id=build_id)
            assert bench.r2._objects.pop(key, None), key
        return do(steps, name, config=config)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeStep, "do", lose)
        await bench.run_all()
    row = await bench.builds.find(build_id)
    assert row is not None
    assert (row["outcome"], reason.format(id=build_id) in row["reason"]) == ("failed", True), row["reason"]
    assert (await collect_state(bench))[-1] == before[-1]
    assert await bench.rebuild(NAME) == "published"
    assert (await bench.text(f"{NAME}.hosts")).count("0.0.0.0 ") == 170


async def test_versions_and_copies_of_one_list():
    """Another list's versions are not shown, and its copies, however old, are not removed by a build of this one."""
    bench = await build()
    await bench.put("another", A)
    await bench.run_all()
    for size in (110, 120):
        bench.sites.answers[A] = make_list(size)
        await bench.rebuild(NAME)
    assert [one.version for one in await bench.lists.load_versions("another")] == [1]
    assert [one.version for one in await bench.lists.load_versions(NAME)] == [3, 2, 1]
    bench.clock.advance(40 * 24 * 3600)
    await bench.rebuild(NAME)
    rows = await bench.database.all("select list, source from published_copies order by list, source")
    assert [(row["list"], row["source"]) for row in rows] == [("another", A), (NAME, A), (NAME, B)]


async def test_version_whose_text_is_lost():
    """It cannot be compared, and the answer names it."""
    bench = await build()
    bench.sites.answers[A] = make_list(110)
    await bench.rebuild(NAME)
    await bench.bucket.delete(f"published/versions/{NAME}/1")
    with pytest.raises(NotFound, match="no version 1 any more"):
        await bench.queries.compare_versions(NAME, 1, 2)


async def test_build_that_can_never_start():
    """The reason of the engine is told, and no row of the build stays."""
    bench = await build()

    async def refuse(_name: str, _params: Any) -> None:
        raise Invalid("the parameters are too odd")

    class Engine:
        create = staticmethod(refuse)

    bench.operator = replace(bench.operator, instances=Engine())  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="too odd"):
        await bench.operator.rebuild(NAME, bench.ticket())
    assert await bench.builds.load_waiting() == []


async def test_readers_see_the_addresses_first():
    """A version is shown, and the copies of the former one are purged, when all its addresses have it: else a copy of the old one could be cached again."""
    bench = await build(formats=["hosts"])
    bench.sites.answers[A] = make_list(120)
    seen: list[tuple[int, int, int]] = []
    purge = bench.workflow.publisher.purge

    async def look(tags: Any) -> None:
        await purge(tags)
        text, hosts = await bench.text(f"{NAME}.txt"), await bench.text(f"{NAME}.hosts")
        seen.append(((await bench.lists.load(NAME)).version, len(rules_of(text)), hosts.count("0.0.0.0 ")))

    bench.workflow = replace(bench.workflow, publisher=replace(bench.workflow.publisher, purge=look))
    assert await bench.rebuild(NAME) == "published"
    assert seen == [(2, 170, 170)]


async def test_scheduled_build_waits_for_its_minute_outside_the_queue():
    """Until then nobody waits behind it."""
    bench = await build(schedule="0 3 * * *")
    three = 1_800_000_000_000 // 86_400_000 * 86_400_000 + 3 * 3_600_000
    await bench.operator.run_due(three)
    waiting: list[int] = []
    sleep = FakeStep.sleep

    async def look(steps: FakeStep, name: str, *arguments: Any) -> None:
        if name == "own-minute":
            waiting.append(len(await bench.builds.load_waiting()))
        await sleep(steps, name, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeStep, "sleep", look)
        await bench.run_all()
    assert waiting == [0]


async def test_rebuild_of_a_declared_list():
    """One that no cron has stored yet is stored and built once; the caller gets the id of that build."""
    definition = {"configuration": {"name": "D", "sources": [{"source": A}]}}
    bench = ListBench({A: make_list(3)}, read_declared_lists(json.dumps({"declared": definition})))
    build_id = await bench.operator.rebuild("declared", bench.ticket())
    assert list(bench.engine.instances) == [build_id]
    await bench.run_all()
    assert await bench.rebuild("declared") == "unchanged"


@pytest.mark.parametrize("variable", ["[]", "1", '{"Not a name": {}}', '{"name": {}}', "{"])
def test_declarations_that_cannot_be_read(variable: str):
    """The error names the variable."""
    with pytest.raises(ConfigError, match="PUBLISHED_LISTS"):
        read_declared_lists(variable)


async def test_rollback_to_a_version_whose_text_is_lost():
    """It fails with the version that is missing, and what was served stays."""
    bench = await build()
    bench.sites.answers[A] = make_list(120)
    await bench.rebuild(NAME)
    await bench.bucket.delete(f"published/versions/{NAME}/1")
    build_id = await bench.operator.roll_back(NAME, 1, bench.ticket())
    await bench.run_all()
    row = await bench.builds.find(build_id)
    assert row is not None
    assert (row["outcome"], row["reason"]) == (
        "failed", f"restore: version 1 of {NAME} is no longer stored",
    )  # fmt: skip
    assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 170


def test_too_many_declared_lists():
    """A hundred can be declared, in the file and the variable together."""
    definition = {"configuration": {"name": "D", "sources": [{"source": A}]}}
    half = {f"a-{at}": definition for at in range(50)}
    rest = {f"b-{at}": definition for at in range(50)}
    assert len(read_declared_lists(json.dumps(half), json.dumps(rest))) == 100
    with pytest.raises(ConfigError, match="name 101 lists"):
        read_declared_lists(json.dumps(half | {"one-more": definition}), json.dumps(rest))


def test_long_differences():
    """A difference lists so many rules each way, and counts the others."""
    old, new = [f"||a{at}.example^" for at in range(5)], [f"||b{at}.example^" for at in range(MAX_LISTED + 7)]
    changes = compare_rules(old, [*new, "! comment", new[-1]])
    assert (changes["added"], changes["removed"]) == (new[:MAX_LISTED], old)
    assert changes["unlisted"] == {"added": 7, "removed": 0}
    assert compare_rules(old, [*old, "x"]) == {"added": ["x"], "removed": []}
