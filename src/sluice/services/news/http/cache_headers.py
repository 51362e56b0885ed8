"""The cache headers of the API: how long a reply is fresh, its ETag, and the time of the data."""

from typing import Final

from sluice.core.http_dates import format_http_date
from sluice.services.news.serve.snapshot import Snapshot
from sluice.web import ETag, Reply

MAX_AGE_S: Final = 60
STALE_WHILE_REVALIDATE_S: Final = 300


def with_cache_headers(reply: Reply, snapshot: Snapshot | None) -> Reply:
    """The ETag is a digest of the body; without a snapshot there is no Last-Modified."""
    content = reply.body if isinstance(reply.body, bytes) else b""
    policy = f"public, max-age={MAX_AGE_S}, stale-while-revalidate={STALE_WHILE_REVALIDATE_S}"
    reply = reply.with_header("Cache-Control", policy).with_header("ETag", str(ETag.of(content)))
    return reply.with_header("Last-Modified", format_http_date(snapshot.changed_at)) if snapshot else reply
