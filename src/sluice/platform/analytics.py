"""Analytics Engine: data points that dashboards read; what cannot be written costs nobody anything."""

import math
from collections.abc import Sequence
from typing import Any, Final

from sluice.core.ports import Log

MAX_INDEX_BYTES: Final = 96
MAX_BLOBS: Final = 20
MAX_BLOB_BYTES: Final = 16 * 1024  # of all blobs together
MAX_DOUBLES: Final = 20


class Analytics:
    """One dataset; without a binding every point is dropped."""

    def __init__(self, dataset: Any, log: Log) -> None:
        self._dataset = dataset
        self._log = log

    def write(self, event: str, *, blobs: Sequence[str] = (), doubles: Sequence[float] = ()) -> None:
        """One point under the event's name; texts are cut to what the platform takes."""
        if self._dataset is None:
            return
        point = {
            "indexes": [cut(event, MAX_INDEX_BYTES)],
            "blobs": fitting(blobs),
            "doubles": [float(value) if math.isfinite(value) else 0.0 for value in doubles[:MAX_DOUBLES]],
        }
        try:
            self._dataset.writeDataPoint(point)
        except Exception as error:  # noqa: BLE001 - a point is not worth a failed request
            self._log.event("analytics.dropped", point=event, reason=str(error))


def fitting(blobs: Sequence[str]) -> list[str]:
    """The first blobs, each cut so that all of them together fit."""
    left = MAX_BLOB_BYTES
    kept = []
    for blob in blobs[:MAX_BLOBS]:
        kept.append(cut(str(blob), left))
        left -= len(kept[-1].encode())
    return kept


def cut(text: str, max_bytes: int) -> str:
    """The longest beginning that takes no more bytes; no character is torn, a lone surrogate becomes a question mark."""
    return text.encode(errors="replace")[:max_bytes].decode(errors="ignore")
