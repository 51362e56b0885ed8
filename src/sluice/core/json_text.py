"""The one encoder for JSON text: compact, without escapes for non-ASCII text, and never NaN."""

import json


def encode_json(value: object) -> str:
    """Encode as compact JSON text; raises ValueError for NaN, Infinity and cycles."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_utf8(text: str) -> bytes:
    r"""Encode as UTF-8 without failing: a lone surrogate becomes its `\udXXX` escape, which means the same inside JSON."""
    return text.encode("utf-8", "backslashreplace")
