"""A stored copy of a page: what it holds, how long it may serve, and how R2 and the edge cache write it down."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final

from sluice.core.headers import header_value
from sluice.core.http_dates import format_http_date
from sluice.core.json_text import encode_json
from sluice.core.ports import Content, HeaderPairs
from sluice.core.preload.caching.cache_keys import key_hash
from sluice.core.preload.caching.freshness import (
    FULL_STATUSES,
    MAX_AHEAD_S,
    Freshness,
    compute_freshness,
    initial_age_s,
    is_specified,
    parse_tags,
)
from sluice.core.preload.caching.proxy_headers import hide_origin, select_visitor_headers
from sluice.core.preload.zone_config import ZoneConfig, netloc_of
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.ports import CachedResponse

MAX_METADATA_BYTES: Final = 7500  # of R2's 8,192, which count the names too
_LONG: Final = ("headers", "tags")  # what may be too long for R2's metadata
# The shape of what is stored beside a copy's bytes. One that differs cannot be read: its page counts as missing, and is
# warmed again. Raise it with each change of a member or its meaning; a copy without one is of the first shape.
COPY_SHAPE: Final = "1"
FRESHNESS_FIELDS: Final = 3
COPY: Final = "x-sluice-copy"  # at the edge: what the copy is, as JSON
# Headers that the edge cache would act on, or that describe the bytes as they were sent.
_KEPT_FROM_EDGE: Final = frozenset({"age", "cache-control", "date", "expires", "pragma", "vary"})
_NOT_STORED: Final = frozenset(
    {"age", "cf-cache-status", "cf-ray", "content-encoding", "content-length", "set-cookie", "via", COPY}
)
_NOT_OF_COPY: Final = _NOT_STORED | _KEPT_FROM_EDGE  # what else the response at the edge has
# What a 304 leaves as it is: what belongs to the stored bytes, and the date, which is that of the confirmation.
_NOT_UPDATED: Final = frozenset({"content-range", "date", "etag"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One variant of a page as it is stored; `headers` are those for a visitor. `stored_at` lies back by the age it had then."""

    page: Page
    headers: HeaderPairs
    content: Content
    stored_at: float
    freshness: Freshness
    tags: Sequence[str] = ()
    status: int = 200
    # The number of the latest purge that was known when the origin was asked.
    seq: int = 0
    # Whether the zone's object could not be asked lately for purges that cover it.
    is_unchecked: bool = False

    @property
    def fresh_until(self) -> float:
        return self.stored_at + self.freshness.lifetime_s

    @property
    def is_brief(self) -> bool:
        """Whether it is a missing or moved page, which only the edge keeps."""
        return self.status not in FULL_STATUSES

    def age_s(self, now: float) -> float:
        """Return the age; one that was stored in the future has just expired, because the clock was set back since."""
        if self.stored_at > now + MAX_AHEAD_S:
            return float(self.freshness.lifetime_s)
        return max(0.0, now - self.stored_at)

    def updated_by(self, headers: HeaderPairs, config: ZoneConfig) -> "Copy":
        """Return the copy with the headers, freshness and tags of a 304 that confirms it."""
        stored = select_stored_headers(headers, config, self.page)
        news = tuple(pair for pair in stored if pair[0] not in _NOT_UPDATED)
        names = {name for name, _ in news}
        kept = tuple(pair for pair in self.headers if pair[0] not in names)
        return replace(
            self,
            headers=tuple(sorted((*kept, *news), key=itemgetter(0))),
            freshness=compute_freshness(headers, self.page.url, config) if is_specified(headers) else self.freshness,
            tags=parse_tags(headers) or self.tags,
        )

    def confirmed(self, headers: HeaderPairs, config: ZoneConfig, now: float) -> "Copy":
        """Return the copy after a 304 that arrived now."""
        return replace(self.updated_by(headers, config), stored_at=now - initial_age_s(headers))

    def renewed_at(self, time: float) -> "Copy":
        """Return the copy with the time of its last confirmation, which a browser compares with its own clock."""
        others = tuple(pair for pair in self.headers if pair[0] != "date")
        dated = (
            (("date", format_http_date(datetime.fromtimestamp(time, UTC))),) if len(others) < len(self.headers) else ()
        )
        return replace(self, headers=(*others, *dated), stored_at=time)

    def with_content(self, content: Content) -> "Copy":
        return replace(self, content=content)

    def is_fresh(self, now: float) -> bool:
        return self.freshness.is_fresh(self.age_s(now))

    def may_serve_while_revalidating(self, now: float) -> bool:
        """Return whether it may be served while a newer one is fetched."""
        return self.freshness.may_serve_while_revalidating(self.age_s(now))

    def may_serve_on_error(self, now: float) -> bool:
        """Return whether it may be served because the origin fails."""
        return self.freshness.may_serve_on_error(self.age_s(now))


@dataclass(frozen=True, slots=True)
class Revalidation:
    """The conditions of a request that was answered with 304, when it was sent, and the latest purge known then."""

    conditions: HeaderPairs
    at: float
    seq: int

    def fits(self, headers: HeaderPairs) -> bool:
        """Return whether these are the headers of the copy that the conditions were made of."""
        return self.conditions == build_conditions(headers)


def build_conditions(headers: HeaderPairs) -> HeaderPairs:
    """Return the request headers that ask for a page only if it has changed; `headers` are those of its copy."""
    names = (("if-none-match", "etag"), ("if-modified-since", "last-modified"))
    return tuple((name, value) for name, key in names if (value := header_value(headers, key)))


def build_copy(
    page: Page, status: int, headers: HeaderPairs, content: Content, *, config: ZoneConfig, now: float, seq: int
) -> Copy:
    """Return the copy of a response that arrived now; `seq` is the latest purge that was known when the origin was asked."""
    return Copy(
        page=page,
        status=status,
        headers=select_stored_headers(headers, config, page),
        content=content,
        stored_at=now - initial_age_s(headers),
        freshness=compute_freshness(headers, page.url, config, status=status, now=now),
        tags=parse_tags(headers),
        seq=seq,
    )


def select_stored_headers(headers: HeaderPairs, config: ZoneConfig, page: Page) -> HeaderPairs:
    """Return the headers that are part of a copy, ordered by name, so that equal copies are equal values."""
    shown = hide_origin(select_visitor_headers(headers), config, netloc_of(page.url))
    return tuple(sorted((pair for pair in shown if pair[0] not in _NOT_STORED), key=itemgetter(0)))


def build_edge_headers(copy: Copy, zone_id: str, *, max_age_s: int) -> HeaderPairs:
    """Return the headers under which the edge keeps a copy; what it would act on, and what the copy is, is in one of them as JSON."""
    described = {
        "shape": COPY_SHAPE,
        "zone": zone_id,
        "key": key_hash(copy.page.url, copy.page.variant),
        "at": copy.stored_at,
        "freshness": _list_seconds(copy.freshness),
        "tags": list(copy.tags),
        "seq": copy.seq,
        "headers": [pair for pair in copy.headers if pair[0] in _KEPT_FROM_EDGE],
    }
    return (
        *(pair for pair in copy.headers if pair[0] not in _KEPT_FROM_EDGE),
        ("cache-control", f"public, max-age={max_age_s}"),
        (COPY, json.dumps(described)),
    )


def parse_edge_response(page: Page, zone_id: str, response: CachedResponse) -> Copy | None:
    """Return the copy that the edge keeps; None if it cannot be read.

    Two zones may name the same host; then they share the URL, but not the page.
    """
    stored = _parse_description(header_value(response.headers, COPY))
    if stored.get("shape", COPY_SHAPE) != COPY_SHAPE or stored.get("zone") != zone_id:
        return None
    if stored["key"] != key_hash(page.url, page.variant):
        return None
    headers = tuple(pair for pair in response.headers if pair[0] not in _NOT_OF_COPY)
    return Copy(
        page=page,
        status=response.status,
        headers=(*headers, *((name, value) for name, value in stored["headers"])),
        content=response.content,
        stored_at=stored["at"],
        freshness=Freshness(*stored["freshness"]),
        tags=tuple(stored.get("tags", ())),
        seq=stored.get("seq", 0),
    )


@lru_cache(maxsize=64)
def _parse_description(text: str) -> Mapping[str, Any]:
    """Return the description of a copy, which nobody changes: hot pages have the same one at each visit."""
    return MappingProxyType(json.loads(text) if text else {})


def build_metadata(copy: Copy) -> dict[str, str]:
    """Return everything as text, the only type that R2 stores."""
    headers = json.dumps([list(pair) for pair in copy.headers])
    tags = json.dumps(list(copy.tags))
    return {
        "shape": COPY_SHAPE,
        "url": copy.page.url,
        "variant": copy.page.variant,
        "stored_at": repr(copy.stored_at),
        "freshness": encode_json(_list_seconds(copy.freshness)),
        "headers": headers,
        "tags": tags,
        "seq": str(copy.seq),
    }


def split_metadata(metadata: Mapping[str, str]) -> tuple[dict[str, str], bytes | None]:
    """Return the metadata as R2 takes it; what is too long for that is in the bytes of an object of its own, named by its hash."""
    if sum(len(value.encode()) for value in metadata.values()) <= MAX_METADATA_BYTES:
        return dict(metadata), None
    content = encode_json({name: metadata[name] for name in _LONG}).encode()
    short = {name: value for name, value in metadata.items() if name not in _LONG}
    return {**short, "beside": sha256(content).hexdigest()}, content


def join_metadata(metadata: Mapping[str, str], content: bytes | None) -> dict[str, str]:
    """Return the whole metadata again; nothing if the object beside belongs to another copy."""
    if content is None or sha256(content).hexdigest() != metadata.get("beside"):
        return {}
    beside: dict[str, str] = json.loads(content)
    return {**metadata, **beside}


def parse_metadata(page: Page, metadata: Mapping[str, str], content: Content) -> Copy | None:
    """Return the copy; None if it cannot be read."""
    if metadata.get("shape", COPY_SHAPE) != COPY_SHAPE:
        return None
    try:
        return _parse_metadata(page, metadata, content)
    except (KeyError, TypeError, ValueError):
        return None  # of the time before shapes had a number


def _parse_metadata(page: Page, metadata: Mapping[str, str], content: Content) -> Copy | None:
    if metadata.get("url") != page.url or metadata.get("variant") != page.variant:
        return None
    seconds: list[int] = json.loads(metadata["freshness"])
    if len(seconds) != FRESHNESS_FIELDS:
        return None  # of an earlier version, which stored other headers
    headers: list[Any] = json.loads(metadata["headers"])
    return Copy(
        page=page,
        headers=tuple((str(name), str(value)) for name, value in headers),
        content=content,
        stored_at=float(metadata["stored_at"]),
        freshness=Freshness(*seconds),
        tags=tuple(json.loads(metadata["tags"])),
        seq=int(metadata.get("seq", "0")),
    )


def _list_seconds(fresh: Freshness) -> list[int]:
    return [fresh.lifetime_s, fresh.while_revalidate_s, fresh.if_error_s]
