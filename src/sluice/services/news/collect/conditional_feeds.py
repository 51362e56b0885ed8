"""Conditional requests for feeds: a feed that has not changed is neither sent nor parsed again, and Retry-After is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from sluice.core.errors import SluiceError
from sluice.core.http_dates import parse_http_date
from sluice.core.ports import Clock, Fetch, FetchResponse, HeaderPairs, Sink
from sluice.core.timestamps import iso
from sluice.core.waits import clamp_wait
from sluice.services.news.state.remote_state import StoredFeed

_MAX_WAIT_S: Final = 24 * 3600.0
_MAX_VALIDATOR_CHARS: Final = 500
_BUSY: Final = frozenset({429, 503})


class NotModified(SluiceError):
    """The feed is the one that was read last."""


class Postponed(SluiceError):
    """The server has asked not to be asked before a time that is still to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedState:
    """What the last response said: its validators, or when to ask again."""

    etag: str = ""
    last_modified: str = ""
    retry_at_ms: int = 0

    @classmethod
    def from_json(cls, value: StoredFeed) -> Self:
        return cls(etag=value["etag"], last_modified=value["lastModified"], retry_at_ms=value["retryAtMs"])

    def as_json(self) -> StoredFeed:
        return {"etag": self.etag, "lastModified": self.last_modified, "retryAtMs": self.retry_at_ms}

    @property
    def headers(self) -> HeaderPairs:
        pairs = (("If-None-Match", self.etag), ("If-Modified-Since", self.last_modified))
        return tuple((name, value) for name, value in pairs if value)


@dataclass(frozen=True, slots=True)
class ConditionalFeeds:
    """The feeds of one run: `known` is what earlier runs have stored, `found` what this one should store."""

    fetch: Fetch
    clock: Clock
    known: dict[str, FeedState] = field(default_factory=dict)
    found: dict[str, FeedState] = field(default_factory=dict)

    def load(self, states: Mapping[str, StoredFeed], *, is_list_missing: bool) -> None:
        """Load what earlier runs have stored. Without a pending list, what the feeds still offer is read again, but a Retry-After counts."""
        for url, value in states.items():
            state = FeedState.from_json(value)
            self.known[url] = FeedState(retry_at_ms=state.retry_at_ms) if is_list_missing else state

    def fetch_for(self, feed_url: str) -> Fetch:
        """Return the fetch of one feed; other addresses that it leads to are fetched without conditions."""

        async def fetch(
            url: str,
            *,
            max_bytes: int,
            timeout_s: float,
            method: str = "GET",
            headers: HeaderPairs = (),
            body: bytes | None = None,
            follow: bool = True,
            fresh: bool = False,
            sink: Sink | None = None,
        ) -> FetchResponse:
            is_feed = url == feed_url
            conditions = self._check_state(feed_url) if is_feed else ()
            response = await self.fetch(
                url,
                max_bytes=max_bytes,
                timeout_s=timeout_s,
                method=method,
                headers=(*headers, *conditions),
                body=body,
                follow=follow,
                fresh=fresh,
                sink=sink,
            )
            return self._note(feed_url, response) if is_feed else response

        return fetch

    def _check_state(self, url: str) -> HeaderPairs:
        state = self.known.get(url, FeedState())
        now_ms = int(self.clock.now() * 1000)
        retry_at_ms = clamp_wait(state.retry_at_ms, now_ms, int(_MAX_WAIT_S * 1000))
        if retry_at_ms > now_ms:
            self.found[url] = replace(state, retry_at_ms=retry_at_ms)
            raise Postponed(f"it has asked not to be asked before {iso(retry_at_ms / 1000)}")
        return state.headers

    def _note(self, url: str, response: FetchResponse) -> FetchResponse:
        if response.status == 304:
            self.found[url] = self.known.get(url, FeedState())
            raise NotModified("the feed has not changed")
        if response.status in _BUSY:
            self.found[url] = FeedState(retry_at_ms=self._read_retry_at_ms(response))
        elif response.status < 300:
            etag, modified = response.header("etag") or "", response.header("last-modified") or ""
            if max(len(etag), len(modified)) <= _MAX_VALIDATOR_CHARS:
                self.found[url] = FeedState(etag=etag, last_modified=modified)
        return response

    def _read_retry_at_ms(self, response: FetchResponse) -> int:
        now = self.clock.now()
        text = (response.header("retry-after") or "").strip()
        time = parse_http_date(text)
        seconds = float(text) if text.isascii() and text.isdigit() else time.timestamp() - now if time else 0.0
        return int((now + min(max(seconds, 0.0), _MAX_WAIT_S)) * 1000)
