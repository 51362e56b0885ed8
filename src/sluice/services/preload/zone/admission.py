"""Who may do what, how often and only once: nonces, rate limits and idempotency keys of one zone, all atomic."""

import json
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from sluice.core.errors import Conflict, TooManyRequests
from sluice.core.json_text import encode_json
from sluice.core.ports import Sql
from sluice.core.preload.request_signing import NONCE_KEPT_S

REPLAY_KEPT_S: Final = 86_400
MAX_FORGOTTEN: Final = 1000  # rows cleared at once, so that no request pays for a busy day


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in so many seconds, as a token bucket."""

    name: str
    count: int
    period_s: int


ANY: Final = Rate("any", 10_000, 3600)
PRELOAD: Final = Rate("preload", 500, 60)
PURGE: Final = Rate("purge", 1000, 60)
GLOBAL_PURGE: Final = Rate("global purge", 5, 3600)


@dataclass(frozen=True, slots=True)
class Admission:
    sql: Sql

    def use_nonce(self, nonce: str, now: float) -> None:
        """Take the nonce, or raise Conflict when it was taken before."""
        self._forget("nonce", now)
        taken = self.sql.execute(
            "INSERT INTO nonce VALUES (?, ?) ON CONFLICT (nonce) DO NOTHING", nonce, now + NONCE_KEPT_S
        )
        if not taken:
            raise Conflict("this X-Nonce was used before: the request is a replay")

    def charge(self, rate: Rate, now: float) -> None:
        """Take one token, or raise TooManyRequests with the seconds until there is one."""
        found = self.sql.rows("SELECT tokens, at FROM bucket WHERE name = ?", rate.name)
        per_second = rate.count / rate.period_s
        tokens, at = (float(found[0]["tokens"] or 0), float(found[0]["at"] or 0)) if found else (float(rate.count), now)
        tokens = min(float(rate.count), tokens + max(0.0, now - at) * per_second)
        if tokens < 1:
            wait_s = ceil((1 - tokens) / per_second)
            raise TooManyRequests(f"more than {rate.count} {rate.name} requests in {rate.period_s} s", wait_s)
        self.sql.execute("INSERT OR REPLACE INTO bucket VALUES (?, ?, ?)", rate.name, tokens - 1, now)

    def first_response(self, name: str, body_hash: str, now: float) -> Any:
        """What was answered to the same request before; None for a new one, Conflict for the key of another."""
        self._forget("replay", now)
        found = self.sql.rows("SELECT body_hash, response FROM replay WHERE name = ? AND expires_at > ?", name, now)
        if not found:
            return None
        if found[0]["body_hash"] != body_hash:
            raise Conflict("this idempotency_key was used for another body; take a new one")
        return json.loads(str(found[0]["response"]))

    def keep_response(self, name: str, body_hash: str, response: object, now: float) -> None:
        self.sql.execute(
            "INSERT OR REPLACE INTO replay VALUES (?, ?, ?, ?)",
            *(name, body_hash, encode_json(response), now + REPLAY_KEPT_S),
        )

    def _forget(self, table: str, now: float) -> None:
        key = "nonce" if table == "nonce" else "name"
        self.sql.execute(
            f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE expires_at <= ? LIMIT ?)",  # noqa: S608
            *(now, MAX_FORGOTTEN),
        )
