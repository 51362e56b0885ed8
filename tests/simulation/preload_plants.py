"""Defects of the preloader to plant."""

from typing import Final

from simulation.plants import Plant

_ZONE: Final = "services/preload/zone/"
_WARMING: Final = "services/preload/warming/"
_QUEUE: Final = "services/preload/queue/"
_SERVING: Final = "services/preload/serving/"


def _plant(name: str, *patches: tuple[str, str, str]) -> Plant:
    return Plant(name, "preload", patches)


PRELOAD_PLANTS: Final = (
    _plant(
        "a page that is wanted again while it is fetched is forgotten",
        (
            f"{_QUEUE}queue.py",
            "DELETE FROM entry WHERE id = ? AND again = 0 RETURNING id",
            "DELETE FROM entry WHERE id = ? RETURNING id",
        ),
    ),
    _plant(
        "a lease does not take the page",
        (
            f"{_QUEUE}queue.py",
            "UPDATE entry SET state = {LEASED}, due_at = ?, lease",
            "UPDATE entry SET due_at = ?, lease",
        ),
    ),
    _plant(
        "one request too many in a window",
        ("core/preload/rate_limits.py", "len(finished) - first - limit\n", "len(finished) - first - limit - 1\n"),
    ),
    _plant(
        "one request too many at once",
        ("core/preload/rate_limits.py", "len(slots) - limits.concurrency\n", "len(slots) - limits.concurrency - 1\n"),
    ),
    _plant(
        "the purge number of a warmed page is taken after the fetch",
        (
            f"{_WARMING}warm_page.py",
            "page, config, response, Revalidation(validators, fetched_at, seq)",
            "page, config, response, Revalidation(validators, fetched_at, self.copies.latest_seq())",
        ),
    ),
    _plant(
        "the purge number of a visitor's page is taken after the fetch",
        (
            f"{_SERVING}misses.py",
            "return self._serve_response(miss, response, seq)",
            "return self._serve_response(miss, response, self.copies.latest_seq())",
        ),
    ),
    _plant(
        "grants are forgotten by a crash",
        (
            f"{_WARMING}grant_store.py",
            'self._sql.value("INSERT INTO flight (granted_at) VALUES (?) RETURNING id", now) or 0',
            "now * 1000",
        ),
    ),
    _plant(
        "an idempotency key is not looked at",
        (
            f"{_ZONE}signed_calls.py",
            "if stored := admission.load_response(idempotency_key, signed.body_hash, now):",
            "if stored := None:",
        ),
    ),
    _plant(
        "a nonce may be used again",
        (f"{_ZONE}admission.py", "if not is_new:", "if not is_new and False:"),
    ),
    _plant(
        "a lease never ends",
        (
            f"{_QUEUE}queue.py",
            "WHERE state = {LEASED} AND due_at <= ? AND id NOT IN",
            "WHERE state = {LEASED} AND due_at <= ? - 1000000 AND id NOT IN",
        ),
    ),
    _plant(
        "the alarm is not set again",
        (f"{_ZONE}zone_object.py", "await alarm.set(max(next_at, self.services.now()))", "await alarm.delete()"),
        (
            f"{_ZONE}zone_object.py",
            "        if has_work or services.state.wants_origin_check:",
            "        if services.state.wants_origin_check:",
        ),
    ),
    _plant(
        "a dead letter has no reason",
        (f"{_QUEUE}dead_letters.py", "reason[:500]", "reason[:0]"),
    ),
    _plant(
        "a stale configuration of KV is adopted",
        (f"{_ZONE}config_publisher.py", "KV_LAG_S: Final = 120.0", "KV_LAG_S: Final = 0.0"),
    ),
    _plant(
        "a request counts as under way for ever",
        (f"{_WARMING}grant_store.py", "self._under_way.pop(grant_id, None)", "self._under_way.get(grant_id)"),
    ),
    _plant(
        "a page is settled twice",
        (f"{_QUEUE}batches.py", '        self.sql.run("DELETE FROM membership WHERE entry_id = ?", entry_id)\n', ""),
    ),
    _plant(
        "rows for D1 are deleted before they are sent",
        (
            f"{_ZONE}outbox.py",
            '                await database.batch(_build_statements(rows))\n                self.sql.run("DELETE FROM outbox WHERE kind != \'webhook\' AND id <= ?", rows[-1]["id"])',
            '                self.sql.run("DELETE FROM outbox WHERE kind != \'webhook\' AND id <= ?", rows[-1]["id"])\n                await database.batch(_build_statements(rows))',
        ),
    ),
    _plant(
        "a copy is indexed after it is stored",
        (
            f"{_SERVING}copy_store.py",
            "        await self._index(copy)\n        in_bucket = await self._put_into_bucket(copy)",
            "        in_bucket = await self._put_into_bucket(copy)\n        await self._index(copy)",
        ),
    ),
    _plant(
        "isolates read the purges half a second too late",
        (
            "services/preload/purge_lists/purge_reader.py",
            "now - known.asked_at < known.config.cache_purge_delay_s\n        return known if is_current",
            "now - known.asked_at < known.config.cache_purge_delay_s + 0.5\n        return known if is_current",
        ),
    ),
    _plant(
        "pages are sent while the breaker is open",
        (
            f"{_WARMING}drain.py",
            'breaker.open_until if breaker.state == "open" else 0.0\n        return float',
            "0.0\n        return float",
        ),
        ("core/preload/circuit_breaker.py", 'return self.state == "closed" or', 'return self.state != "half-open" or'),
    ),
    _plant(
        "a half-open breaker lets many pages try",
        (
            "core/preload/circuit_breaker.py",
            'self.state == "half-open" and in_flight == 0',
            'self.state == "half-open"',
        ),
    ),
    _plant(
        "a paused zone goes on while it is busy",
        (
            f"{_WARMING}drain.py",
            "if config is None or self.state.is_held:",
            "if config is None or (self.state.is_held and not self._tasks and not self._started):",
        ),
    ),
    _plant(
        "nonces are kept for ever",
        (f"{_ZONE}housekeeping.py", "        services.admission.forget_expired(now)\n", ""),
    ),
    _plant(
        "a copy is fresh for ever",
        (
            "core/preload/caching/freshness.py",
            "lifetime_s=min(MAX_TTL_S, lifetime_s)",
            "lifetime_s=min(MAX_TTL_S, lifetime_s * 100)",
        ),
    ),
    _plant(
        "a purge removes newer copies from the index",
        (
            "services/preload/serving/purging.py",
            "await self.copies.remove(found.indexed, below_seq=purge.seq)",
            "await self.copies.pages.remove(found.indexed)",
        ),
    ),
)
