"""The rules that were added and removed between two versions, comments aside."""

from collections.abc import Iterable, Iterator
from typing import Any

from sluice.core.errors import NotFound
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.ports import Bucket
from sluice.services.compiler.published.keys import version_key
from sluice.services.compiler.published.sources.bundles import decompress


async def load_text(bucket: Bucket, name: str, version: int) -> bytes:
    content = await bucket.get_bytes(version_key(name, version))
    if content is None:
        raise NotFound(f"list {name} has no version {version} any more")
    return decompress(content)


def compare_rules(old: bytes, new: Iterable[str]) -> dict[str, Any]:
    """Return the added and the removed rules, each once and in the order of its text."""
    before = dict.fromkeys(iterate_rules(decode_lines(old)), False)
    added: dict[str, None] = {}
    for rule in iterate_rules(new):
        if rule in before:
            before[rule] = True
        else:
            added[rule] = None
    return {"added": list(added), "removed": [rule for rule, stays in before.items() if not stays]}


def iterate_rules(lines: Iterable[str]) -> Iterator[str]:
    return (line for line in lines if not is_blank(line) and not is_comment(line))


def decode_lines(text: bytes) -> Iterator[str]:
    start = 0
    while (end := text.find(b"\n", start)) >= 0:
        yield text[start:end].decode("utf-8", "backslashreplace")
        start = end + 1
    if start < len(text):
        yield text[start:].decode("utf-8", "backslashreplace")
