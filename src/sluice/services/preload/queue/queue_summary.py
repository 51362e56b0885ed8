"""What waits in a zone's queue, for people: how many pages by priority, and which come next."""

from itertools import pairwise
from typing import Any, Final

from sluice.core.ports import Sql
from sluice.services.preload.queue.queue import Entry, mirrored
from sluice.services.preload.zone.schema import READY

# Where the triggers begin: by hand, after a purge, by schedule, from a sitemap.
BANDS: Final = (100, 80, 50, 30)
SHOWN: Final = 20


def waiting(sql: Sql) -> dict[str, Any]:
    """Counts the whole queue, so it takes longer the more there are: for a page that somebody looks at."""
    counts = {row["band"]: int(row["n"] or 0) for row in sql.rows(_COUNT)}
    edges = (None, *BANDS, None)
    bands = [
        {"from": low, "to": high, "waiting": counts.get(place, 0)} for place, (high, low) in enumerate(pairwise(edges))
    ]
    return {"by_priority": bands, "next": mirrored([Entry.of(row) for row in sql.rows(_NEXT, READY, SHOWN)])}


_COUNT: Final = f"""SELECT CASE {" ".join(f"WHEN priority >= {low} THEN {place}" for place, low in enumerate(BANDS))}
  ELSE {len(BANDS)} END AS band, count(*) AS n FROM entry GROUP BY band"""  # noqa: S608 - made of the numbers above
_NEXT: Final = "SELECT * FROM entry WHERE state = ? ORDER BY priority DESC, enqueued_at, id LIMIT ?"
