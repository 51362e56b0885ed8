"""Builds the snapshot of the published articles and copies it to its KV namespace."""

from typing import Final

from sluice.core.news.stories import StoryGrouper
from sluice.core.ports import KvWriter
from sluice.services.news.serve.pages import first_page_body
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.serve.stored_snapshot import FIRST_PAGE_KEY, SNAPSHOT_KEY, VERSION_KEY, StoredReply
from sluice.services.news.state.published_rows import PublishedRows
from sluice.web import ETag

TTL_S: Final = 30 * 24 * 3600  # the object writes them again when they are missing


class SnapshotBuilder:
    """Builds the snapshot of the rows, once for each change."""

    def __init__(self, rows: PublishedRows) -> None:
        self._rows = rows
        self._last: Snapshot | None = None
        self._grouper = StoryGrouper()

    def build(self) -> Snapshot:
        rows = self._rows
        version, changed_at_ms, is_legacy = rows.changes, rows.changed_at_ms, rows.is_legacy
        last = self._last
        if last is None or (last.version, last.is_legacy) != (version, is_legacy) or last.changed_at_ms < changed_at_ms:
            last = Snapshot.build(
                rows.read_all(),
                changed_at_ms=changed_at_ms,
                version=version,
                is_legacy=is_legacy,
                group=self._grouper.group,
            )
            self._last = last
        return last


async def write_snapshot(kv: KvWriter, snapshot: Snapshot, text: str) -> None:
    """Write the version last: whoever reads it finds at least that snapshot, once KV shows it everywhere."""
    body, next_cursor = first_page_body(snapshot)
    page = StoredReply(body, str(ETag.of(body)), snapshot.changed_at_ms, next_cursor)
    if snapshot.articles:
        await kv.put_bytes(FIRST_PAGE_KEY, page.body, ttl_s=TTL_S, metadata=page.metadata)
    else:
        await kv.delete(FIRST_PAGE_KEY)
    await kv.put_text(SNAPSHOT_KEY, text, ttl_s=TTL_S)
    await kv.put_text(VERSION_KEY, str(snapshot.version), ttl_s=TTL_S)
