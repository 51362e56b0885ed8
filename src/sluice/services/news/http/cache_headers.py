"""The cache headers of the API: how long a reply is fresh, its ETag, its tag, and the time of the data."""

from datetime import UTC, datetime
from typing import Final

from sluice.core.http_dates import format_http_date
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.serve.stored_snapshot import CACHE_TAGS, StoredReply
from sluice.web import CachePolicy, ETag, Reply, share_reply
from sluice.web.operations import ReplyDoc

MAX_AGE_S: Final = 60
# What the documents say of the replies that are made of the snapshot.
CACHED: Final = {
    "ETag": "Identifies this version of the reply.",
    "Last-Modified": "When the data last changed.",
    "Cache-Control": "Fresh for a minute, and usable for five more while it is revalidated.",
}
UNCHANGED: Final = ReplyDoc("The caller's copy is current.")
# Of a request that can be conditional, while there may be no articles yet.
PROBLEMS: Final = (412, 503)
_SHARING: Final = CachePolicy(MAX_AGE_S, tags=CACHE_TAGS, stale_s=300)


def with_cache_headers(reply: Reply, snapshot: Snapshot | None, *, is_shared: bool = True) -> Reply:
    """Return the reply with its cache headers. The ETag is a digest of the body; without a snapshot there is no Last-Modified.

    What names the host of the request is not shared, because the host is no part of the address of a copy.
    """
    content = reply.body if isinstance(reply.body, bytes) else b""
    reply = reply.with_header("ETag", str(ETag.of(content)))
    if is_shared:
        reply = share_reply(reply, _SHARING)
    return reply.with_header("Last-Modified", format_http_date(snapshot.changed_at)) if snapshot else reply


def build_reply(body: object, snapshot: Snapshot | None) -> Reply:
    return with_cache_headers(Reply.json(body), snapshot)


def build_page_reply(page: StoredReply) -> Reply:
    """Return a stored page; nothing of it is parsed or computed again."""
    changed_at = datetime.fromtimestamp(page.changed_at_ms / 1000, UTC)
    headers = (
        ("Content-Type", "application/json"),
        ("ETag", page.etag),
        ("Last-Modified", format_http_date(changed_at)),
    )
    return share_reply(Reply(200, headers, page.body), _SHARING)
