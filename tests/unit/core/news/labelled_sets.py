"""The labelled sets in tests/data/news."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[3] / "data/news"
PARTS: Final = ("dev", "frozen")


def load_set(part: str, name: str) -> Any:
    return json.loads((FOLDER / part / f"{name}.json").read_text(encoding="utf-8"))


def list_titles(part: str) -> Iterator[str]:
    """Yield the titles of the headlines, pairs and articles, and in `dev` those of the cases of rules."""
    yield from (item["title"] for item in load_set(part, "headlines"))
    yield from (pair[side]["title"] for pair in load_set(part, "pairs") for side in "ab")
    yield from (load_set(part, f"articles/{name}")["title"] for name in load_set(part, "articles/expected"))
    if part == "dev":
        cases = load_set(part, "rules")
        yield from (item["title"] for item in cases["headlines"])
        yield from (pair[side] for pair in cases["pairs"] for side in "ab")


def load_headlines(name: str) -> list[tuple[str, str]]:
    """Return the titles of one set with their labels, of both parts."""
    items = [item for part in PARTS for item in load_set(part, "headlines")]
    return [(item["title"], item["label"]) for item in items if item["set"] == name]
