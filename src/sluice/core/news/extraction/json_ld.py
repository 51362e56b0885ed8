"""Reads the article that publishers give to search engines: `articleBody` in JSON-LD."""

from collections.abc import Iterator
from html import unescape
from typing import Any, Final

from sluice.core.json_text import parse_bounded_json
from sluice.core.news.extraction.blocks import blocks_of
from sluice.core.news.extraction.tree import parse

_MAX_VALUES: Final = 10_000  # of one script; the largest seen has a few hundred


def article_body(scripts: list[str]) -> str:
    """Returns the longest body in the scripts of the page; "" if there is none."""
    return max((_plain_text(body) for script in scripts for body in _find_bodies(script)), key=len, default="")


def _find_bodies(script: str) -> Iterator[str]:
    try:
        waiting: list[Any] = [parse_bounded_json(script.strip(), strict=False)]
    except ValueError:
        return
    for _ in range(_MAX_VALUES):
        if not waiting:
            return
        match waiting.pop():
            case list() as items:
                waiting.extend(items)
            case dict() as thing:
                if isinstance(body := thing.get("articleBody"), str):
                    yield body
                waiting.extend(value for value in thing.values() if isinstance(value, dict | list))


def _plain_text(body: str) -> str:
    """Removes the markup that some publishers put into the body."""
    if "</" in body or "<br" in body:
        return "\n".join(block.text for block in blocks_of(parse(body).root))
    return "\n".join(" ".join(line.split()) for line in unescape(body).splitlines() if line.strip())
