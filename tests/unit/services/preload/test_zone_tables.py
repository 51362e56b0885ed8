"""The small tables of a zone's object: what is counted, in which order it is told, and when it goes."""

import pytest

from fakes.d1 import FakeD1
from fakes.objects import FakeStorage
from sluice.core.errors import Conflict, TooManyRequests
from sluice.core.preload.incidents import Incident
from sluice.core.preload.rate_limits import Rate
from sluice.core.preload.request_signing import NONCE_KEPT_S
from sluice.platform.durable_objects import Sql
from sluice.platform.storage.d1 import D1
from sluice.services.preload.discovery.observed_pages import MAX_PAGES, ObservedPages
from sluice.services.preload.traffic.visits import Traffic
from sluice.services.preload.zone.admission import FORGET_NONCES_S, REPLAY_KEPT_S, Admission
from sluice.services.preload.zone.alerts import ZoneAlerts
from sluice.services.preload.zone.outbox import Outbox
from sluice.services.preload.zone.schema import create_tables
from unit.services.preload.world import MIGRATIONS

HOUR_S = 3600


def build_sql() -> Sql:
    sql = Sql(FakeStorage())
    create_tables(sql)
    return sql


class TestTraffic:
    """Visits by the hour, and by page until D1 has them."""

    def test_last_day(self):
        """The sums of the last 24 hours by layer; what is no layer is not counted."""
        traffic, now = Traffic(build_sql()), 100 * HOUR_S
        traffic.add({"edge": [9, 900, 90.0]}, {}, now - 24 * HOUR_S)
        traffic.add({"edge": [1, 10, 5.0], "pass": [2, 20, 50.0], "nonsense": [7, 7, 7.0]}, {}, now - 23 * HOUR_S)
        traffic.add({"edge": [3, 30, 10.5]}, {}, now)
        traffic.add({"edge": [1, 10, 0.5]}, {}, now + 1)
        day = traffic.load_day(now)
        assert (day.layers["edge"].visits, day.layers["edge"].bytes, day.layers["edge"].ttfb_ms) == (5, 50, 16.0)
        assert (day.total, day.hits, day.hit_ratio) == (7, 5, round(5 / 7, 4))
        assert day.as_json()["layers"]["edge"] == {"visits": 5, "bytes": 50, "mean_ttfb_ms": 3.2}
        assert day.as_json()["layers"]["r2"] == {"visits": 0, "bytes": 0, "mean_ttfb_ms": None}
        assert (day.as_json()["hours"], day.as_json()["bytes_saved"]) == (24, 50)
        assert Traffic(build_sql()).load_day(now).hit_ratio is None

    def test_old_hours(self):
        """They go after eight days."""
        sql = build_sql()
        traffic = Traffic(sql)
        for hour in (0, 1, 2):
            traffic.add({"edge": [1, 1, 1.0]}, {}, hour * HOUR_S)
        traffic.forget_old(8 * 24 * HOUR_S + HOUR_S)
        assert [row["hour"] for row in sql.rows("SELECT hour FROM visit ORDER BY hour")] == [1, 2]

    def test_pages(self):
        """The most visited first; what D1 has is subtracted, and what was counted meanwhile stays."""
        traffic = Traffic(build_sql())
        traffic.add({}, {"a": 2, "b": 5, "c": 1}, 0)
        traffic.add({}, {"a": 1}, 0)
        assert list(traffic.list_pages(9).items()) == [("b", 5), ("a", 3), ("c", 1)]
        assert traffic.list_pages(1) == {"b": 5}
        traffic.subtract_pages({"b": 5, "a": 2, "unknown": 4})
        assert traffic.list_pages(9) == {"a": 1, "c": 1}

    def test_very_many_pages(self):
        """Beyond ten thousand none is counted until these are told, not even the known ones."""
        traffic = Traffic(build_sql())
        traffic.add({}, {str(number): 1 for number in range(10_000)}, 0)
        traffic.add({}, {"more": 1, "0": 1}, 0)
        assert len(traffic.list_pages(20_000)) == 10_000
        traffic.subtract_pages({"1": 1})
        traffic.add({}, {"more": 1}, 0)
        assert "more" in traffic.list_pages(20_000)


class TestObservedPages:
    """What a cache would have done, while it is only observed."""

    def test_comparisons(self):
        """A reply is compared with the one that a cache would have kept, until that has expired; variants are other pages."""
        pages = ObservedPages(build_sql())

        def compare(digest: str, now: float, variant: str = "") -> bool:
            return pages.compare("u", variant, digest, lifetime_s=10, now=now)

        assert [compare("x", 0), compare("x", 5), compare("y", 9), compare("x", 9.5)] == [True, True, False, True]
        assert [compare("z", 9, "mobile"), compare("y", 10), compare("y", 19), compare("x", 19.5)] == [
            True, True, True, False,
        ]  # fmt: skip
        assert pages.list_pages() == [
            {"url": "u", "variant": "", "compared": 5, "differing": 2, "differed_at": 19.5},
            {"url": "u", "variant": "mobile", "compared": 0, "differing": 0, "differed_at": None},
        ]

    def test_order(self):
        """Those that differ most often first, then those that were compared most often, then by their address."""
        pages = ObservedPages(build_sql())
        for url, digests in (("d", "xx"), ("a", "x"), ("c", "xyy"), ("b", "xxx"), ("e", "xyyx")):
            for digest in digests:
                pages.compare(url, "", digest, lifetime_s=10, now=0)
        assert [page["url"] for page in pages.list_pages()] == ["e", "c", "b", "d", "a"]

    def test_bounded(self):
        """Beyond a thousand, those go that have been equal and were seen longest ago."""
        sql = build_sql()
        pages = ObservedPages(sql)
        for digest in "xy":
            pages.compare("differs", "", digest, lifetime_s=1, now=0)
        for number in range(MAX_PAGES):
            pages.compare(f"{number:04}", "", "x", lifetime_s=10, now=number)
        known = {row["url"] for row in sql.rows("SELECT url FROM observed")}
        assert len(known) == MAX_PAGES
        assert known == {"differs", *(f"{number:04}" for number in range(1, MAX_PAGES))}


class TestAdmission:
    """Nonces, rates and replays of one zone."""

    def test_nonces(self):
        """A nonce is taken once, until it has expired; others are not touched."""
        admission = Admission(build_sql())
        admission.use_nonce("a", 0)
        admission.use_nonce("b", 0)
        for now in (0, NONCE_KEPT_S - 0.5):
            with pytest.raises(Conflict):
                admission.use_nonce("a", now)
        admission.use_nonce("a", NONCE_KEPT_S)
        with pytest.raises(Conflict):
            admission.use_nonce("a", NONCE_KEPT_S + 1)

    def test_rates(self):
        """Each rate has a bucket of its own; after the clock was set back the tokens grow again."""
        admission, one, two = Admission(build_sql()), Rate("one", 2, 60), Rate("two", 5, 60)
        for _ in range(2):
            admission.charge([one], 1000)
        with pytest.raises(TooManyRequests):
            admission.charge([one, two], 1000)
        admission.charge([two], 1000)
        admission.clamp_waits(100)
        with pytest.raises(TooManyRequests):
            admission.charge([one], 101)
        admission.charge([one], 131)

    def test_replays(self):
        """The same request gets the same answer for a day; a key with another body is refused."""
        sql = build_sql()
        admission = Admission(sql)
        admission.store_response("k", "hash", "answer", 0)
        admission.store_response("other", "hash", "another answer", 5)
        assert admission.load_response("k", "hash", REPLAY_KEPT_S - 1) == "answer"
        assert admission.load_response("new", "hash", 0) is None
        with pytest.raises(Conflict):
            admission.load_response("k", "another body", 0)
        assert admission.load_response("k", "another body", REPLAY_KEPT_S) is None
        admission.forget_expired(REPLAY_KEPT_S)
        assert [row["name"] for row in sql.rows("SELECT name FROM replay")] == ["other"]

    def test_nonces_are_forgotten_late(self):
        """A day after they have expired: until then the clock may be set back."""
        sql = build_sql()
        admission = Admission(sql)
        admission.use_nonce("a", 0)
        admission.use_nonce("b", 1)
        admission.forget_expired(NONCE_KEPT_S + FORGET_NONCES_S - 0.5)
        assert sql.value("SELECT count(*) FROM nonce") == 2
        admission.forget_expired(NONCE_KEPT_S + FORGET_NONCES_S)
        assert [row["nonce"] for row in sql.rows("SELECT nonce FROM nonce")] == ["b"]


class TestResults:
    """The outcomes of the last five minutes."""

    def build(self) -> tuple[ZoneAlerts, Sql]:
        sql = build_sql()
        alerts = ZoneAlerts("z", sql, Outbox(sql))
        for at, ok, latency_ms in ((0, True, 900.0), (100, True, 100.0), (200, False, 700.0), (300, True, 300.0)):
            alerts.count_result(at, ok=ok, latency_ms=latency_ms)
        return alerts, sql

    def test_rates(self):
        """Attempts, failures and times of the last five minutes alone."""
        alerts, _ = self.build()
        rates = alerts.load_rates(300)
        assert (rates.attempts, rates.failures, rates.slowest_ms) == (3, 1, 700.0)
        assert rates.mean_ms == pytest.approx(1100 / 3)
        assert alerts.load_rates(299).attempts == 4
        nothing = alerts.load_rates(900)
        assert (nothing.attempts, nothing.failures, nothing.mean_ms, nothing.slowest_ms) == (0, 0, None, None)
        assert (alerts.load_good_latency_ms(300), alerts.load_good_latency_ms(900)) == (200.0, 0.0)

    def test_last_answer(self):
        """A failure is no answer."""
        alerts, _ = self.build()
        assert [alerts.has_answered_since(time) for time in (0, 300, 300.5)] == [True, True, False]
        alerts.count_result(400, ok=False, latency_ms=None)
        assert not alerts.has_answered_since(301)

    def test_active_incidents(self):
        """Their kinds in the order of the alphabet."""
        alerts, sql = self.build()
        assert (alerts.has_active(), alerts.list_active()) == (False, [])
        for kind in ("queue_depth", "agent_away", "failure_rate"):
            sql.run("INSERT INTO incident VALUES (?, ?, 1)", kind, kind)
        assert alerts.list_active() == ["agent_away", "failure_rate", "queue_depth"]
        assert alerts.has_active()

    def test_old_results(self):
        """They go after five minutes; none counts for longer because the clock was set back."""
        alerts, sql = self.build()
        alerts.forget_old_results(400)
        assert [row["at"] for row in sql.rows("SELECT at FROM result ORDER BY at")] == [200, 300]
        alerts.clamp_waits(250)
        assert [row["at"] for row in sql.rows("SELECT at FROM result ORDER BY at")] == [200, 250]


def incident(name: str, *, resolved_at: float | None = None) -> Incident:
    return {
        "incident_id": name, "zone_id": "z", "kind": "queue_depth", "level": "warning", "message": f"about {name}",
        "raised_at": 1.0, "resolved_at": resolved_at,
    }  # fmt: skip


class TestOutbox:
    """Rows on their way to D1 and to the webhook."""

    def build_database(self) -> D1:
        fake = FakeD1()
        for path in MIGRATIONS:
            fake.migrate(path.read_text())
        return D1(fake)

    async def test_rows_arrive_once(self):
        """Two hundred leave at once, the oldest first; alerts wait for the webhook beside them."""
        outbox, database = Outbox(build_sql()), self.build_database()
        outbox.add_alert(incident("a"))
        for number in range(250):
            outbox.add_log("z", f"u{number:03}", "done", now=number)
        assert not await outbox.flush(database)
        assert await database.value("SELECT max(url) FROM preload_log") == "u198"
        assert await outbox.flush(database)
        assert await database.value("SELECT count(*) FROM preload_log") == 250
        outbox.add_alert(incident("a", resolved_at=9.0))
        assert await outbox.flush(database)
        [row] = await database.all("SELECT incident_id, resolved_at FROM preload_alerts")
        assert tuple(row.values()) == ("a", 9.0)
        sent: list[Incident] = []

        async def post(alert: Incident) -> None:
            sent.append(alert)

        assert not await outbox.deliver(post)
        assert await outbox.deliver(post)
        assert sent == [incident("a"), incident("a", resolved_at=9.0)]

    async def test_webhook_that_fails(self):
        """What was received is not sent again; the rest is, in its order."""
        outbox = Outbox(build_sql())
        received: list[str] = []

        async def post(alert: Incident) -> None:
            if alert["incident_id"] == "b" and len(received) == 1:
                received.append("failed")
                raise Conflict("not now")
            received.append(alert["incident_id"])

        for name in "abc":
            outbox.add_alert(incident(name))
        with pytest.raises(Conflict):
            await outbox.deliver(post)
        assert not await outbox.deliver(post)
        assert await outbox.deliver(post)
        assert received == ["a", "failed", "b", "c"]

    async def test_database_that_is_away(self):
        """Of the lines five thousand are kept, the newest; an alert is never dropped."""
        sql = build_sql()
        outbox = Outbox(sql)
        outbox.add_alert(incident("a"))
        for number in range(5198):
            outbox.add_log("z", f"u{number}", "done", now=number)
        kinds = {row["kind"]: row["n"] for row in sql.rows("SELECT kind, count(*) AS n FROM outbox GROUP BY kind")}
        assert kinds == {"alert": 1, "log": 5000}
