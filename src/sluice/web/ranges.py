"""Range requests (RFC 9110, section 14): one range of bytes; of several, or of none that can be read, the whole reply."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sluice.core.http_dates import parse_http_date
from sluice.web.conditional import ETag
from sluice.web.messages import Reply

_ONE_RANGE: Final = re.compile(r"bytes\s*=\s*([0-9]{0,15})-([0-9]{0,15})\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `first` up to, but without, `end`."""

    first: int
    end: int

    def describe(self, size: int) -> str:
        return f"bytes {self.first}-{self.end - 1}/{size}"


@dataclass(frozen=True, slots=True)
class Unsatisfiable:
    """No byte of the reply is in the range."""


def choose_range(headers: Mapping[str, str], reply: Reply, size: int) -> ByteRange | Unsatisfiable | None:
    """Return the part of a reply of this size that the request asks for; None for all of it."""
    match = _ONE_RANGE.fullmatch(headers.get("range", ""))
    if match is None or match[1] == match[2] == "" or not _is_same_version(headers.get("if-range"), reply):
        return None
    if not match[1]:
        first, end = max(0, size - int(match[2])), size
    else:
        first, end = int(match[1]), min(size, int(match[2]) + 1) if match[2] else size
        if match[2] and int(match[2]) < first:
            return None
    return ByteRange(first, end) if first < end else Unsatisfiable()


def _is_same_version(condition: str | None, reply: Reply) -> bool:
    """Return whether If-Range, if there is one, names the version of the reply: by a strong ETag, or by its exact date."""
    if condition is None:
        return True
    etag = ETag.parse(reply.header("etag"))
    if condition.strip().startswith('"'):
        return etag is not None and not etag.weak and ETag.parse(condition.strip()) == etag
    date = parse_http_date(condition.strip())
    return date is not None and date == parse_http_date(reply.header("last-modified"))
