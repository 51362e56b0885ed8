"""Conditional requests (RFC 9110, section 13): no body for a current copy, no change based on an old one."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Self

from sluice.core.errors import PreconditionFailed
from sluice.core.http_dates import parse_http_date
from sluice.web.messages import Reply, Request

_TAG = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
_SEPARATOR = re.compile(r"[ \t]*(?:,[ \t]*)+")
# The headers that a 304 repeats; the others describe a body, which it does not have.
_HEADERS_OF_304 = frozenset(
    {"cache-control", "cache-tag", "content-location", "date", "etag", "expires", "last-modified", "vary"}
)


@dataclass(frozen=True, slots=True)
class ETag:
    """The name of one version of a resource; a weak tag stands for the same meaning, not the same bytes."""

    tag: str
    weak: bool = False

    def __post_init__(self) -> None:
        if not _TAG.fullmatch(f'"{self.tag}"'):
            raise ValueError(f"not an entity tag: {self.tag!r}")

    @classmethod
    def of(cls, content: bytes, *, weak: bool = False) -> Self:
        """Return the tag of the content: equal content has an equal tag."""
        # 128 bits of the digest are short and make collisions improbable.
        return cls(sha256(content).hexdigest()[:32], weak)

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """Return the tag of a header, or None if it is not a tag."""
        match = _TAG.fullmatch((text or "").strip(" \t"))
        return cls(match[2], match[1] is not None) if match else None

    def __str__(self) -> str:
        return f'{"W/" if self.weak else ""}"{self.tag}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """What identifies the current version of a resource."""

    etag: ETag | None = None
    modified_at: datetime | None = None


def parse_etags(text: str) -> tuple[ETag, ...]:
    """Return all tags of a list, or none if a part of it cannot be read."""
    text = text.strip(" \t,")
    tags: list[ETag] = []
    # Tags may contain commas, so the list cannot be split at them.
    position = 0
    while match := _TAG.match(text, position):
        tags.append(ETag(match[2], match[1] is not None))
        if match.end() == len(text):
            return tuple(tags)
        separator = _SEPARATOR.match(text, match.end())
        position = separator.end() if separator else len(text)
    return ()


def check_preconditions(request: Request, current: Validators | None) -> None:
    """Raise PreconditionFailed unless the request fits the current version; None means that the resource is missing."""
    if (expected := request.headers.get("if-match")) is not None:
        if not _matches_any(expected, current, _same_strongly):
            raise PreconditionFailed("the resource has changed: If-Match names another version; read it again")
    elif _modified_after(current, request.headers.get("if-unmodified-since")):
        raise PreconditionFailed("the resource was modified after the date in If-Unmodified-Since; read it again")
    excluded = request.headers.get("if-none-match")
    if request.method not in {"GET", "HEAD"} and excluded and _matches_any(excluded, current, _same_weakly):
        raise PreconditionFailed("the resource exists in a version that If-None-Match excludes")


def apply_conditions(request: Request, reply: Reply) -> Reply:
    """Return the reply to a GET, or a 304 if the caller's copy has the reply's ETag or Last-Modified."""
    if request.method not in {"GET", "HEAD"} or reply.status != 200:
        return reply
    current = Validators(
        etag=ETag.parse(reply.header("etag")), modified_at=parse_http_date(reply.header("last-modified"))
    )
    check_preconditions(request, current)
    return _not_modified(reply) if _is_fresh(request, current) else reply


def _is_fresh(request: Request, current: Validators) -> bool:
    if (known := request.headers.get("if-none-match")) is not None:
        return _matches_any(known, current, _same_weakly)
    since = parse_http_date(request.headers.get("if-modified-since"))
    return since is not None and current.modified_at is not None and _whole_second(current.modified_at) <= since


def _modified_after(current: Validators | None, date: str | None) -> bool:
    limit = parse_http_date(date)
    modified_at = current.modified_at if current else None
    return limit is not None and modified_at is not None and _whole_second(modified_at) > limit


def _matches_any(header: str, current: Validators | None, same: Callable[[ETag, ETag], bool]) -> bool:
    if current is None:
        return False
    if header.strip() == "*":
        return True
    etag = current.etag
    return etag is not None and any(same(etag, listed) for listed in parse_etags(header))


def _same_strongly(one: ETag, other: ETag) -> bool:
    return one == other and not one.weak


def _same_weakly(one: ETag, other: ETag) -> bool:
    return one.tag == other.tag


def _whole_second(time: datetime) -> datetime:
    # HTTP dates have no fractions, so a copy from the same second is current.
    return time.replace(microsecond=0)


def _not_modified(reply: Reply) -> Reply:
    return Reply.empty(304, [pair for pair in reply.headers if pair[0].lower() in _HEADERS_OF_304])
