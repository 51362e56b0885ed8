"""The use of Workers AI in the state object: the breaker, and the neurons of each day."""

from typing import Final, cast

from sluice.core.news.ai.ai_failures import AiFault
from sluice.core.news.ai.breaker import AiBreaker
from sluice.core.ports import Sql
from sluice.core.timestamps import iso
from sluice.services.news.state.remote_state import AiDay

_TABLES: Final = (
    """create table if not exists ai_breaker (
      id integer primary key check (id = 1), failures integer not null, open_until_ms integer not null,
      reason text not null
    ) strict""",
    "insert or ignore into ai_breaker values (1, 0, 0, '')",
    """create table if not exists ai_day (
      day text primary key, neurons real not null, answers integer not null, failures integer not null
    ) strict, without rowid""",
)
_KEPT_DAYS: Final = 30


class AiUsage:
    """Counts the use of Workers AI for all runs, whatever isolate they are in."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        for statement in _TABLES:
            sql.run(statement)

    def explain_refusal(self, now_ms: int, daily_neurons: int) -> str:
        """Return why Workers AI must not be asked now; "" if it may be."""
        breaker = self.read_breaker()
        if breaker.is_open(now_ms):
            return breaker.reason
        used = self.read_day(now_ms)["neurons"]
        return f"the budget of {daily_neurons} neurons a day is used up" if used >= daily_neurons else ""

    def record_answer(self, neurons: float, now_ms: int) -> None:
        self._write_breaker(self.read_breaker().after_success())
        self._count(now_ms, neurons=neurons, answers=1)

    def record_failure(self, fault: AiFault, reason: str, now_ms: int) -> bool:
        """Count a failure; return whether to use the embedded analyst at once."""
        breaker = self.read_breaker().after_failure(fault, reason, now_ms)
        self._write_breaker(breaker)
        self._count(now_ms, failures=1)
        return breaker.is_tripped or fault is AiFault.REQUEST

    def read_breaker(self) -> AiBreaker:
        row = self._sql.rows("select failures, open_until_ms, reason from ai_breaker")[0]
        return AiBreaker(int(row["failures"] or 0), int(row["open_until_ms"] or 0), str(row["reason"]))

    def read_day(self, now_ms: int) -> AiDay:
        rows = self._sql.rows("select neurons, answers, failures from ai_day where day = ?", _day(now_ms))
        return cast("AiDay", rows[0]) if rows else {"neurons": 0.0, "answers": 0, "failures": 0}

    def _write_breaker(self, breaker: AiBreaker) -> None:
        self._sql.run(
            "update ai_breaker set failures = ?, open_until_ms = ?, reason = ?",
            breaker.failures,
            breaker.open_until_ms,
            breaker.reason,
        )

    def _count(self, now_ms: int, *, neurons: float = 0.0, answers: int = 0, failures: int = 0) -> None:
        self._sql.run(
            """insert into ai_day values (?, ?, ?, ?) on conflict (day) do update set neurons = neurons + excluded.neurons,
            answers = answers + excluded.answers, failures = failures + excluded.failures""",
            _day(now_ms),
            neurons,
            answers,
            failures,
        )
        self._sql.run("delete from ai_day where day < ?", _day(now_ms - _KEPT_DAYS * 24 * 3_600_000))


def _day(now_ms: int) -> str:
    return iso(now_ms / 1000)[:10]
