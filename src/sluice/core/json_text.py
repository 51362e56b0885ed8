"""The one way JSON is written: compact, readable in any script, and never NaN."""

import json


def encode_json(value: object) -> str:
    """Compact JSON text; raises ValueError for NaN, Infinity and cycles."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_utf8(text: str) -> bytes:
    r"""UTF-8 that cannot fail: a lone surrogate becomes its `\udXXX` escape, which inside JSON means the same."""
    return text.encode("utf-8", "backslashreplace")
