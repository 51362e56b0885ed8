"""Analytics Engine: data points for dashboards, written as best effort."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from sluice.core.ports import Log

MAX_INDEX_BYTES: Final = 96
MAX_BLOBS: Final = 20
MAX_BLOB_BYTES: Final = 16 * 1024  # of all blobs together
MAX_DOUBLES: Final = 20


class Analytics:
    """Writes data points to one dataset; without a binding all are dropped."""

    def __init__(self, dataset: Any, log: Log, to_js: Callable[[dict[str, Any]], Any]) -> None:
        self._dataset = dataset
        self._log = log
        self._to_js = to_js  # in one step; the SDK takes many, and every request writes a point

    def write(self, event: str, *, blobs: Sequence[str] = (), doubles: Sequence[float] = ()) -> None:
        """Write one point under the event's name; texts are cut to the platform's limits."""
        if self._dataset is None:
            return
        point = {
            "indexes": [cut_text(event, MAX_INDEX_BYTES)],
            "blobs": fit_blobs(blobs),
            "doubles": [float(value) if math.isfinite(value) else 0.0 for value in doubles[:MAX_DOUBLES]],
        }
        try:
            self._dataset.writeDataPoint(self._to_js(point))
        except Exception as error:  # noqa: BLE001 - a data point must not fail a request
            self._log.event("analytics.dropped", point=event, reason=str(error))


def fit_blobs(blobs: Sequence[str]) -> list[str]:
    """Return the first blobs, cut so that all of them together fit the limit."""
    rest = MAX_BLOB_BYTES
    fitting: list[str] = []
    for blob in blobs[:MAX_BLOBS]:
        fitting.append(cut_text(str(blob), rest))
        rest -= len(fitting[-1].encode())
    return fitting


def cut_text(text: str, max_bytes: int) -> str:
    """Return the longest start of the text that fits; characters stay whole, and a lone surrogate becomes a question mark."""
    return text.encode(errors="replace")[:max_bytes].decode(errors="ignore")
