"""The visits of a zone by the hour and by what answered them, and the visits of each page until D1 has them.

Every ten minutes the visits of each page go to D1, where they fade within a month and raise the priority of their
pages. Of one path at most `cache_max_query_variants` queries are stored, because anybody can invent more.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Sql
from sluice.core.preload.members import Amount

KEPT_S: Final = 8 * 86_400
DAY_S: Final = 86_400
HOUR_S: Final = 3600
LAYERS: Final = ("edge", "r2", "shared", "origin", "pass")
HITS: Final = ("edge", "r2", "shared")
MAX_PAGES: Final = 10_000  # with unknown visits; more are not counted until these are told


class LayerReply(TypedDict):
    visits: Amount
    bytes: Amount
    mean_ttfb_ms: Annotated[float | None, Doc("Until the reply began; null without visits.")]


class VisitFigures(TypedDict):
    hours: int
    visits: Amount
    hit_ratio: Annotated[float | None, Doc("Null without visits.", minimum=0, maximum=1)]
    origin_requests_saved: Amount
    bytes_saved: Amount
    layers: Annotated[
        dict[str, LayerReply],
        Doc("By what answered: edge, r2, shared (another visitor's request), origin, pass (never cached)."),
    ]


@dataclass(frozen=True, slots=True)
class LayerVisits:
    """Visits that one layer answered, the bytes it sent, and the milliseconds that all visitors waited together."""

    visits: int = 0
    bytes: int = 0
    ttfb_ms: float = 0.0

    def as_json(self) -> LayerReply:
        mean_ms = round(self.ttfb_ms / self.visits, 1) if self.visits else None
        return {"visits": self.visits, "bytes": self.bytes, "mean_ttfb_ms": mean_ms}


@dataclass(frozen=True, slots=True)
class Visits:
    """The visits of some time; every layer is present."""

    layers: Mapping[str, LayerVisits]

    @property
    def total(self) -> int:
        return sum(each.visits for each in self.layers.values())

    @property
    def hits(self) -> int:
        """The visits that cost the origin no request."""
        return sum(self.layers[name].visits for name in HITS)

    @property
    def hit_ratio(self) -> float | None:
        """The share of visits that a copy answered; None without visits."""
        return round(self.hits / self.total, 4) if self.total else None

    def as_json(self) -> VisitFigures:
        return {
            "hours": DAY_S // HOUR_S,
            "visits": self.total,
            "hit_ratio": self.hit_ratio,
            "origin_requests_saved": self.hits,
            "bytes_saved": sum(self.layers[name].bytes for name in HITS),
            "layers": {name: each.as_json() for name, each in self.layers.items()},
        }


@dataclass(frozen=True, slots=True)
class Traffic:
    sql: Sql

    def add(self, layers: Mapping[str, Sequence[float]], pages: Mapping[str, int], now: float) -> None:
        """Add the visits that one isolate has counted: visits, bytes and milliseconds by layer, and visits by page."""
        rows = [[name, *map(int, each[:2]), float(each[2])] for name, each in layers.items() if name in LAYERS]
        self.sql.run(
            """INSERT INTO visit SELECT ?, value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS REAL)
               FROM json_each(?) WHERE true
               ON CONFLICT (hour, layer) DO UPDATE SET visits = visits + excluded.visits,
                 bytes = bytes + excluded.bytes, ttfb_ms = ttfb_ms + excluded.ttfb_ms""",
            *(int(now // HOUR_S), json.dumps(rows)),
        )
        self.sql.run(
            """INSERT INTO page_visit SELECT key, value FROM json_each(?)
               WHERE (SELECT count(*) FROM page_visit) < ?
               ON CONFLICT (url) DO UPDATE SET visits = visits + excluded.visits""",
            *(json.dumps(pages), MAX_PAGES),
        )

    def list_pages(self, limit: int) -> dict[str, int]:
        """Return the visits of pages that D1 has not heard of, the most visited first."""
        rows = self.sql.rows("SELECT url, visits FROM page_visit ORDER BY visits DESC LIMIT ?", limit)
        return {str(row["url"]): int(row["visits"] or 0) for row in rows}

    def subtract_pages(self, pages: Mapping[str, int]) -> None:
        """Forget visits that D1 has; what was counted meanwhile stays."""
        self.sql.run(
            """UPDATE page_visit SET visits = page_visit.visits - known.value FROM json_each(?) AS known
               WHERE url = known.key""",
            json.dumps(pages),
        )
        self.sql.run("DELETE FROM page_visit WHERE visits <= 0")

    def load_day(self, now: float) -> Visits:
        """Return the visits of the last 24 hours."""
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
