"""The decisions of the freshness table beside those of hishel, an independent implementation of RFC 9111."""

import time
import uuid
from typing import Final

import hishel
import pytest

from sluice.core.ports import HeaderPairs
from sluice.core.preload.caching.freshness import Freshness, compute_freshness, initial_age_s, judge_response
from unit.core.preload.caching.test_freshness import (
    CONFIG,
    DATE,
    LIFETIMES,
    NOW,
    STALE,
    STATUSES,
    URL,
    control,
)

Case = tuple[int, HeaderPairs]
SHARED: Final = hishel.CacheOptions(shared=True, supported_methods=["GET"], allow_stale=False)
SHARED_STALE: Final = hishel.CacheOptions(shared=True, supported_methods=["GET"], allow_stale=True)
CASES: Final[list[Case]] = [(200, headers) for headers, _ in LIFETIMES] + [
    (status, headers) for status, headers, _ in STATUSES[1:]
]
BRIEF: Final = control("max-age=10")
MINUTE: Final = "max-age=60"


def targeted(text: str, browsers: str = MINUTE) -> Case:
    return 200, control(browsers, ("cdn-cache-control", text))


# Every case in which the two differ, by the reason.
DIFFERENCES: Final[dict[str, list[Case]]] = {
    "where the origin says nothing, the zone's tier decides; hishel guesses from Last-Modified alone": [
        *((200, headers) for headers in ((), control("public"), (("pragma", "other"),))),
        (200, control("stale-while-revalidate=9")),
        *((status, ()) for status in (203, 404, 410, 301, 308)),
    ],
    "of two values the smaller counts (RFC 9111, 4.2.1: the first, or stale); hishel takes the last": [
        (200, control("max-age=30, max-age=60")),
    ],
    "nothing is fresh for longer than a year": [
        (200, control("max-age=99999999999999")),
        (200, control("max-age=2147483648")),
    ],
    "a value that cannot be read is stale (RFC 9111, 4.2.1); hishel skips the directive": [
        (200, control("s-maxage=soon, max-age=60")),
    ],
    "no-cache and private with field names count like those without, which RFC 9111, 5.2.2 allows": [
        (200, control('no-cache="set-cookie", max-age=60')),
        (200, control('private="x, y", max-age=60')),
    ],
    "the Age of caches on the way counts (RFC 9111, 4.2.3); hishel knows Date only": [
        *((200, control(MINUTE, ("age", text))) for text in ("59", "60", "600", "10, 90")),
    ],
    "CDN-Cache-Control is RFC 9213, which hishel does not know": [
        (200, (("cdn-cache-control", "max-age=6000"),)),
        targeted("max-age=6000", "max-age=60, s-maxage=600"),
        targeted(MINUTE, "no-store"),
        targeted(MINUTE, "private, max-age=0"),
        *(
            targeted(text)
            for text in ("no-store", "private", "max-age=0", "max-age=-5", "max-age=5;ext=1, no-store=?0")
        ),
    ],
    "Surrogate-Control is for caches like this one; hishel does not know it": [
        (200, control(MINUTE, ("surrogate-control", "no-store"))),
    ],
    "a reply that sets a cookie is for one visitor, whatever it says": [(200, control(MINUTE, ("set-cookie", "a=1")))],
    "what the platform cannot decode is not stored, because copies are stored decoded": [
        (200, control(MINUTE, ("content-encoding", "zstd"))),
        (200, control(MINUTE, ("content-encoding", "deflate, gzip"))),
    ],
    "a page that varies on what is not in its key passes; hishel stores it and compares the header": [
        (200, control(MINUTE, ("vary", "Cookie"))),
        (200, control(MINUTE, ("vary", "User-Agent"))),
        (200, control(MINUTE, ("vary", "Accept-Encoding"), ("vary", "Origin"))),
    ],
    "only whole, missing and moved pages are kept": [(status, BRIEF) for status in (302, 307, 204, 403, 500, 503)],
}


def reuses(status: int, headers: HeaderPairs, age_s: int) -> bool:
    """Return whether our cache serves a response without a question to the origin, so long after it arrived."""
    verdict = judge_response(status, headers, URL, CONFIG, NOW)
    return isinstance(verdict, Freshness) and verdict.is_fresh(initial_age_s(headers) + age_s)


def hishel_reuses(
    status: int,
    headers: HeaderPairs,
    age_s: int,
    monkeypatch: pytest.MonkeyPatch,
    options: hishel.CacheOptions = SHARED,
) -> bool:
    """Return whether hishel does, as a shared cache."""
    dated = headers if any(name == "date" for name, _ in headers) else (DATE, *headers)
    fields: dict[str, str | list[str]] = {}
    for name, value in dated:
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    request, response = hishel.Request("GET", URL), hishel.Response(status, hishel.Headers(fields))
    monkeypatch.setattr(time, "time", lambda: NOW)
    if not isinstance(hishel.CacheMiss(options, request).next(response), hishel.StoreAndUse):
        return False
    monkeypatch.setattr(time, "time", lambda: NOW + age_s)
    found = hishel.IdleClient(options).next(request, [hishel.Entry(uuid.UUID(int=1), request, response)])
    return isinstance(found, hishel.FromCache)


def differs(status: int, headers: HeaderPairs, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the two decide otherwise: at once, or at the end of the lifetime that we give."""
    verdict = judge_response(status, headers, URL, CONFIG, NOW)
    end = verdict.lifetime_s - initial_age_s(headers) if isinstance(verdict, Freshness) else 1
    return any(
        reuses(status, headers, age_s) != hishel_reuses(status, headers, age_s, monkeypatch)
        for age_s in (0, end - 1, end)
    )


def test_decisions(monkeypatch: pytest.MonkeyPatch):
    """At least 80 cases; hishel decides like we do, or the difference is explained, and no explanation is idle."""
    explained = [case for cases in DIFFERENCES.values() for case in cases]
    assert len(CASES) >= 80
    assert [case for case in CASES if differs(*case, monkeypatch)] == [case for case in CASES if case in explained]
    assert all(case in CASES for case in explained)


# Whether a response may be served stale at all, where the two differ.
STALE_DIFFERENCES: Final[dict[str, list[HeaderPairs]]] = {
    "0 forbids it (RFC 5861), which hishel does not know": [
        control("max-age=1, stale-while-revalidate=0, stale-if-error=0"),
    ],
    "proxy-revalidate forbids it to a shared cache (RFC 9111, 5.2.2.8); hishel forgets that": [
        control("max-age=1, proxy-revalidate"),
    ],
    "s-maxage implies proxy-revalidate (RFC 9111, 5.2.2.10), unless the origin itself allows a stale page": [
        control("s-maxage=1"),
    ],
    "must-revalidate in Cache-Control does not count beside CDN-Cache-Control (RFC 9213)": [
        control("must-revalidate", ("cdn-cache-control", "max-age=1")),
    ],
}


def test_stale(monkeypatch: pytest.MonkeyPatch):
    """Stale pages are served where hishel would serve them, or the difference is explained."""
    differing = []
    for headers, _ in STALE:
        fresh = compute_freshness(headers, URL, CONFIG)
        too_old_s = fresh.lifetime_s + 1
        if fresh.may_serve_on_error(too_old_s) != hishel_reuses(200, headers, too_old_s, monkeypatch, SHARED_STALE):
            differing.append(headers)
    assert differing == [case for cases in STALE_DIFFERENCES.values() for case in cases]
