"""Data points stay within the platform's limits and never fail a request."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakes.binding import JsError, check_sendable
from sluice.platform.analytics import MAX_BLOB_BYTES, Analytics, cut_text, fit_blobs


class Dataset:
    """Refuses what Analytics Engine refuses."""

    def __init__(self) -> None:
        self.points: list[dict[str, Any]] = []

    def writeDataPoint(self, point: dict[str, Any]) -> None:  # noqa: N802 - as bound
        check_sendable(point)
        sizes = [len(blob.encode()) for blob in point["blobs"]]
        if len(point["indexes"]) > 1 or len(point["indexes"][0].encode()) > 96:
            raise JsError("Size of indexes exceeds limit of 96 bytes")
        if len(sizes) > 20 or sum(sizes) > 16 * 1024:
            raise JsError("Cumulative size of blobs exceeds limit")
        if len(point["doubles"]) > 20:
            raise JsError("Maximum of 20 doubles supported")
        self.points.append(point)


class ListLog:
    def __init__(self) -> None:
        self.events: list[str] = []

    def event(self, name: str, /, **_fields: object) -> None:
        self.events.append(name)

    def error(self, name: str, _error: BaseException, /, **_fields: object) -> None:
        self.events.append(name)


def test_point():
    """A point is its event's name, its texts and its numbers."""
    dataset = Dataset()
    Analytics(dataset, ListLog(), dict).write("cache_hit", blobs=("a", "b"), doubles=(1, 2.5))
    assert dataset.points == [{"indexes": ["cache_hit"], "blobs": ["a", "b"], "doubles": [1.0, 2.5]}]


# Long texts are made of short ones: their length is what matters, and where a character of several bytes is cut.
LONG_TEXTS = st.builds(str.__mul__, st.text(alphabet="é\U0001f600a", min_size=1, max_size=3), st.integers(500, 5000))


@given(
    st.text() | LONG_TEXTS,
    st.lists(st.text() | LONG_TEXTS, max_size=25),
    st.lists(st.floats() | st.integers(), max_size=25),
)
def test_any_point_fits(event: str, blobs: list[str], doubles: list[float]):
    """The platform accepts every point."""
    dataset, log = Dataset(), ListLog()
    Analytics(dataset, log, dict).write(event, blobs=blobs, doubles=doubles)
    assert len(dataset.points) == 1
    assert log.events == []


def test_failure_is_logged_only():
    """A point that the platform refuses is only logged."""

    class Broken:
        def writeDataPoint(self, _point: object) -> None:  # noqa: N802 - as bound
            raise JsError("no")

    log = ListLog()
    Analytics(Broken(), log, dict).write("cache_hit")
    Analytics(None, log, dict).write("cache_hit")
    assert log.events == ["analytics.dropped"]


def test_cut():
    """Text is cut between characters, and earlier blobs are served first."""
    assert cut_text("aé", 2) == "a"
    assert [len(blob) for blob in fit_blobs(["x" * 10_000, "y" * 10_000, "z"])] == [10_000, MAX_BLOB_BYTES - 10_000, 0]
