"""Checks that admit a signed request: nonces, rate limits and idempotency keys of one zone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Conflict
from sluice.core.ports import Sql
from sluice.core.preload.rate_limits import Rate, TokenBucket, take_token
from sluice.core.preload.request_signing import NONCE_KEPT_S

REPLAY_KEPT_S: Final = 86_400
# A nonce is forgotten only so long after it has expired: until then a clock that was set forward may be set back, and
# the request that carries it would be recent again.
FORGET_NONCES_S: Final = 86_400
MAX_FORGOTTEN: Final = 1000  # rows deleted at once, so that no cron run pays for a busy day


@dataclass(frozen=True, slots=True)
class Admission:
    sql: Sql

    def use_nonce(self, nonce: str, now: float) -> None:
        """Take the nonce; raise Conflict when it was used before."""
        is_new = self.sql.rows(
            """INSERT INTO nonce VALUES (?, ?) ON CONFLICT (nonce) DO UPDATE SET expires_at = excluded.expires_at
               WHERE nonce.expires_at <= ? RETURNING 1""",
            *(nonce, now + NONCE_KEPT_S, now),
        )
        if not is_new:
            raise Conflict("this X-Nonce was used before: the request is a replay")

    def charge(self, rates: Sequence[Rate], now: float) -> None:
        """Take one token of each rate; raise TooManyRequests with the seconds until there is one."""
        names = json.dumps([rate.name for rate in rates])
        rows = self.sql.rows("SELECT * FROM bucket WHERE name IN (SELECT value FROM json_each(?))", names)
        buckets = {str(row["name"]): TokenBucket(float(row["tokens"] or 0), float(row["at"] or 0)) for row in rows}
        charged = {rate.name: take_token(rate, buckets.get(rate.name), now) for rate in rates}
        values = json.dumps([[name, bucket.tokens, bucket.at] for name, bucket in charged.items()])
        self.sql.run(
            """INSERT OR REPLACE INTO bucket
               SELECT value ->> 0, CAST(value ->> 1 AS REAL), CAST(value ->> 2 AS REAL) FROM json_each(?)""",
            values,
        )

    def load_response(self, idempotency_key: str, body_hash: str, now: float) -> str | None:
        """Return the response to the same request before; None for a new one. Raise Conflict when the key has another body."""
        rows = self.sql.rows(
            "SELECT body_hash, response FROM replay WHERE name = ? AND expires_at > ?", idempotency_key, now
        )
        if not rows:
            return None
        if rows[0]["body_hash"] != body_hash:
            raise Conflict("this idempotency_key was used for another body; take a new one")
        return str(rows[0]["response"])

    def store_response(self, idempotency_key: str, body_hash: str, response: str, now: float) -> None:
        self.sql.run(
            "INSERT OR REPLACE INTO replay VALUES (?, ?, ?, ?)",
            *(idempotency_key, body_hash, response, now + REPLAY_KEPT_S),
        )

    def clamp_waits(self, now: float) -> None:
        """Let tokens grow again: the clock was set back.

        Nonces stay as they are. Their requests carry times of the same clock, which come again after it was set back.
        """
        self.sql.run("UPDATE bucket SET at = ? WHERE at > ?", now, now)

    def forget_expired(self, now: float) -> None:
        """Delete expired nonces and responses. No request needs that: expired rows are ignored and overwritten."""
        for table, key, kept_s in (("nonce", "nonce", FORGET_NONCES_S), ("replay", "name", 0)):
            self.sql.run(
                f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE expires_at <= ? LIMIT ?)",  # noqa: S608
                *(now - kept_s, MAX_FORGOTTEN),
            )
