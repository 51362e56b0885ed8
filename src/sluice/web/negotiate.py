"""Content negotiation: the offered media type that the caller prefers."""

import re
from collections.abc import Iterator, Sequence

_RANGE = re.compile(r"\s*([^\s;,/]+)/([^\s;,/]+)\s*(?:;(.*))?", re.DOTALL)
_QUALITY = re.compile(r"\s*q\s*=\s*(0(?:\.[0-9]*)?|1(?:\.0*)?)\s*", re.IGNORECASE)


def choose_media_type(accept: str | None, offered: Sequence[str]) -> str | None:
    """Return the offered type with the highest quality, the earlier one on a tie; None if none is acceptable."""
    if accept is None or not accept.strip():
        return offered[0]
    ranges = list(_parse_ranges(accept))
    # max() returns the first of equals, so the order of `offered` is our preference.
    best = max(offered, key=lambda media_type: _find_quality(media_type, ranges))
    return best if _find_quality(best, ranges) > 0 else None


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Return whether the caller accepts gzip; a caller without Accept-Encoding does not."""
    for name in ("gzip", "x-gzip", "*"):
        for item in (accept_encoding or "").lower().split(","):
            coding, _, parameters = item.partition(";")
            if coding.strip() == name:
                quality = _QUALITY.fullmatch(parameters)
                return quality is None or float(quality[1]) > 0
    return False


def _parse_ranges(accept: str) -> Iterator[tuple[str, float]]:
    """Yield each media range with its quality, without the ones that cannot be read."""
    for item in accept.split(","):
        if match := _RANGE.fullmatch(item):
            kind, subtype, parameters = match.groups()
            quality = next(filter(None, map(_QUALITY.fullmatch, (parameters or "").split(";"))), None)
            yield f"{kind}/{subtype}".lower(), float(quality[1]) if quality else 1.0


def _find_quality(media_type: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Return the quality of the most specific range that covers the type; 0 if none does."""
    name = media_type.partition(";")[0].strip().lower()
    for candidate in (name, f"{name.partition('/')[0]}/*", "*/*"):
        matching = [quality for pattern, quality in ranges if pattern == candidate]
        if matching:
            return max(matching)
    return 0.0
