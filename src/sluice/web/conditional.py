"""Conditional requests (RFC 9110, section 13): spare a body nobody needs, refuse a change based on an old copy."""

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
# What a 304 repeats of the reply it stands for; all else describes a body it does not have.
_KEPT_IN_304 = frozenset({"cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary"})


@dataclass(frozen=True, slots=True)
class ETag:
    """The name of one version of a resource; a weak one promises the same meaning, not the same bytes."""

    tag: str
    weak: bool = False

    def __post_init__(self) -> None:
        if not _TAG.fullmatch(f'"{self.tag}"'):
            raise ValueError(f"not an entity tag: {self.tag!r}")

    @classmethod
    def of(cls, content: bytes, *, weak: bool = False) -> Self:
        """The tag of these bytes: equal bytes, equal tag."""
        # 128 bits of the digest: short in every header, and still no accidental twin.
        return cls(sha256(content).hexdigest()[:32], weak)

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """One tag as it stands in a header, or None if it is not one."""
        found = _TAG.fullmatch((text or "").strip(" \t"))
        return cls(found[2], found[1] is not None) if found else None

    def __str__(self) -> str:
        return f'{"W/" if self.weak else ""}"{self.tag}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """What identifies the current version of a resource that exists."""

    etag: ETag | None = None
    modified_at: datetime | None = None


def parse_etags(text: str) -> tuple[ETag, ...]:
    """All tags of a list; none of them if any part is unreadable."""
    text = text.strip(" \t,")
    tags: list[ETag] = []
    # Tags may hold commas, so the list is read tag by tag, not split.
    position = 0
    while found := _TAG.match(text, position):
        tags.append(ETag(found[2], found[1] is not None))
        if found.end() == len(text):
            return tuple(tags)
        separator = _SEPARATOR.match(text, found.end())
        position = separator.end() if separator else len(text)
    return ()


def check_preconditions(request: Request, current: Validators | None) -> None:
    """Raise PreconditionFailed unless the request fits the current version; None means there is no resource yet."""
    if (wanted := request.headers.get("if-match")) is not None:
        if not _lists(wanted, current, _same_strongly):
            raise PreconditionFailed("the resource is not at a version that If-Match names")
    elif _modified_after(current, request.headers.get("if-unmodified-since")):
        raise PreconditionFailed("the resource was modified after the date in If-Unmodified-Since")
    unwanted = request.headers.get("if-none-match")
    if request.method not in {"GET", "HEAD"} and unwanted and _lists(unwanted, current, _same_weakly):
        raise PreconditionFailed("the resource is at a version that If-None-Match excludes")


def apply_conditions(request: Request, reply: Reply) -> Reply:
    """The reply to a GET, or a 304 in its place when the caller's copy has the reply's ETag or Last-Modified."""
    if request.method not in {"GET", "HEAD"} or reply.status != 200:
        return reply
    current = Validators(
        etag=ETag.parse(reply.header("etag")), modified_at=parse_http_date(reply.header("last-modified"))
    )
    check_preconditions(request, current)
    return _not_modified(reply) if _is_fresh(request, current) else reply


def _is_fresh(request: Request, current: Validators) -> bool:
    if (known := request.headers.get("if-none-match")) is not None:
        return _lists(known, current, _same_weakly)
    since = parse_http_date(request.headers.get("if-modified-since"))
    return since is not None and current.modified_at is not None and _whole_second(current.modified_at) <= since


def _modified_after(current: Validators | None, date: str | None) -> bool:
    limit = parse_http_date(date)
    modified_at = current.modified_at if current else None
    return limit is not None and modified_at is not None and _whole_second(modified_at) > limit


def _lists(header: str, current: Validators | None, same: Callable[[ETag, ETag], bool]) -> bool:
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


def _whole_second(moment: datetime) -> datetime:
    # HTTP dates carry no fraction, so a copy from the same second counts as current.
    return moment.replace(microsecond=0)


def _not_modified(reply: Reply) -> Reply:
    return Reply.empty(304, [pair for pair in reply.headers if pair[0].lower() in _KEPT_IN_304])
