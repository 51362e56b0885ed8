"""The labelled sets in tests/data/news."""

import json
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[3] / "data/news"
PARTS: Final = ("dev", "frozen")


def load_set(part: str, name: str) -> Any:
    return json.loads((FOLDER / part / f"{name}.json").read_text(encoding="utf-8"))


def load_headlines(name: str) -> list[tuple[str, str]]:
    """Return the titles of one set with their labels, of both parts."""
    items = [item for part in PARTS for item in load_set(part, "headlines")]
    return [(item["title"], item["label"]) for item in items if item["set"] == name]
