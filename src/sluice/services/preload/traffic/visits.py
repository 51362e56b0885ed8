"""The visits of a zone by the hour and by what answered them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.ports import Sql

KEPT_S: Final = 8 * 86_400
DAY_S: Final = 86_400
HOUR_S: Final = 3600
LAYERS: Final = ("edge", "r2", "origin", "pass")
HITS: Final = ("edge", "r2")


@dataclass(frozen=True, slots=True)
class LayerVisits:
    """Visits that one layer answered, the bytes it sent, and the milliseconds that all visitors waited together."""

    visits: int = 0
    bytes: int = 0
    ttfb_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Visits:
    """The visits of some time; every layer is present."""

    layers: Mapping[str, LayerVisits]

    @property
    def total(self) -> int:
        return sum(each.visits for each in self.layers.values())

    @property
    def hit_ratio(self) -> float | None:
        """The share of visits that a copy answered; None without visits."""
        hits = sum(self.layers[name].visits for name in HITS)
        return round(hits / self.total, 4) if self.total else None


@dataclass(frozen=True, slots=True)
class Traffic:
    sql: Sql

    def add(self, layers: Mapping[str, LayerVisits], now: float) -> None:
        """Adds the visits that one isolate has counted."""
        rows = [[name, each.visits, each.bytes, each.ttfb_ms] for name, each in layers.items() if name in LAYERS]
        self.sql.run(
            """INSERT INTO visit SELECT ?, value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS REAL)
               FROM json_each(?) WHERE true
               ON CONFLICT (hour, layer) DO UPDATE SET visits = visits + excluded.visits,
                 bytes = bytes + excluded.bytes, ttfb_ms = ttfb_ms + excluded.ttfb_ms""",
            *(int(now // HOUR_S), json.dumps(rows)),
        )

    def load_day(self, now: float) -> Visits:
        """The visits of the last 24 hours."""
        rows = self.sql.rows(
            """SELECT layer, sum(visits) AS visits, sum(bytes) AS bytes, sum(ttfb_ms) AS ttfb_ms FROM visit
               WHERE hour > ? GROUP BY layer""",
            int((now - DAY_S) // HOUR_S),
        )
        found: dict[str, Any] = {str(row["layer"]): row for row in rows}
        return Visits(
            {
                name: LayerVisits(int(row["visits"]), int(row["bytes"]), float(row["ttfb_ms"]))
                if (row := found.get(name))
                else LayerVisits()
                for name in LAYERS
            }
        )

    def forget_old(self, now: float) -> None:
        self.sql.run("DELETE FROM visit WHERE hour < ?", int((now - KEPT_S) // HOUR_S))
