"""Content negotiation: the media type of ours that the caller likes best."""

import re
from collections.abc import Iterator, Sequence

_RANGE = re.compile(r"\s*([^\s;,/]+)/([^\s;,/]+)\s*(?:;(.*))?", re.DOTALL)
_QUALITY = re.compile(r"\s*q\s*=\s*(0(?:\.[0-9]*)?|1(?:\.0*)?)\s*", re.IGNORECASE)


def choose_media_type(accept: str | None, offered: Sequence[str]) -> str | None:
    """The best of the offered types, the earlier one on a tie; None when the caller accepts none of them."""
    if accept is None or not accept.strip():
        return offered[0]
    ranges = list(_ranges(accept))
    # max() keeps the first of equals: the order of the offer is our own preference.
    best = max(offered, key=lambda media_type: _quality(media_type, ranges))
    return best if _quality(best, ranges) > 0 else None


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Whether the caller can unpack gzip; one who says nothing about encodings is not asked to."""
    for name in ("gzip", "x-gzip", "*"):
        for item in (accept_encoding or "").lower().split(","):
            coding, _, parameters = item.partition(";")
            if coding.strip() == name:
                quality = _QUALITY.fullmatch(parameters)
                return quality is None or float(quality[1]) > 0
    return False


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    """Each readable range with its quality; the unreadable ones are left out."""
    for item in accept.split(","):
        if found := _RANGE.fullmatch(item):
            kind, subtype, parameters = found.groups()
            quality = next(filter(None, map(_QUALITY.fullmatch, (parameters or "").split(";"))), None)
            yield f"{kind}/{subtype}".lower(), float(quality[1]) if quality else 1.0


def _quality(media_type: str, ranges: Sequence[tuple[str, float]]) -> float:
    """The quality of the most exact range that covers the type; 0 when none does."""
    name = media_type.partition(";")[0].strip().lower()
    for candidate in (name, f"{name.partition('/')[0]}/*", "*/*"):
        matching = [quality for pattern, quality in ranges if pattern == candidate]
        if matching:
            return max(matching)
    return 0.0
