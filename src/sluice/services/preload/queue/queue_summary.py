"""A summary of the queue for people: how many pages wait at which priority, and which come next."""

from itertools import pairwise
from typing import Annotated, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Sql
from sluice.core.preload.members import Amount
from sluice.core.preload.queue_entries import READY
from sluice.services.preload.queue.queue import ORDER, QueuedPage, entry_as_json, parse_entry

# The base priorities of the triggers: manual, post-purge, scheduled, sitemap.
BANDS: Final = (100, 80, 50, 30)
MAX_NEXT: Final = 20


Band = TypedDict("Band", {"from": float | None, "to": float | None, "waiting": Amount})
Band.__doc__ = "Pages whose priority is at least `from` and below `to`; null where the band is open."


class QueueReply(TypedDict):
    by_priority: Annotated[list[Band], Doc("The highest first.")]
    next: Annotated[list[QueuedPage], Doc("The first 20.")]


def summarize_queue(sql: Sql) -> QueueReply:
    """Count the whole queue, so it takes longer the more there are: for a page that somebody looks at."""
    counts = {row["band"]: int(row["n"] or 0) for row in sql.rows(_COUNT)}
    edges = (None, *BANDS, None)
    bands: list[Band] = [
        {"from": low, "to": high, "waiting": counts.get(position, 0)}
        for position, (high, low) in enumerate(pairwise(edges))
    ]
    return {"by_priority": bands, "next": [entry_as_json(parse_entry(row)) for row in sql.rows(_NEXT, MAX_NEXT)]}


_COUNT: Final = f"""SELECT CASE {" ".join(f"WHEN priority >= {low} THEN {n}" for n, low in enumerate(BANDS))}
  ELSE {len(BANDS)} END AS band, count(*) AS n FROM entry GROUP BY band"""  # noqa: S608 - made of the numbers above
_NEXT: Final = f"SELECT * FROM entry WHERE state = {READY} ORDER BY {ORDER} LIMIT ?"  # noqa: S608
