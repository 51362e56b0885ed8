"""The snapshot in its own KV namespace: one value for every query, and the replies that are asked for most, as bytes."""

from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from sluice.core.ports import Clock, KvBytes, KvReader
from sluice.core.waits import is_waiting
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.state.remote_state import RemoteNewsState

# Every reply that is made of the snapshot shows all articles, so one tag is enough; a new snapshot purges them.
CACHE_TAGS: Final = ("news",)
VERSION_KEY: Final = "version"
SNAPSHOT_KEY: Final = "snapshot"
# The first page of GET /api/v1/articles, as it is sent.
FIRST_PAGE_KEY: Final = "page:articles"
REMEMBERED_S: Final = 2.0


@dataclass(slots=True)
class SnapshotMemory:
    """What this isolate has read last: the snapshot, and the first page with the time until which it may be used."""

    snapshot: Snapshot | None = None
    first_page: "StoredReply | None" = None
    first_page_until: float = 0.0

    def forget_first_page(self) -> None:
        self.first_page_until = 0.0


class PageMetadata(TypedDict):
    etag: str
    changedAt: int
    next: str | None


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A stored reply: its bytes, its ETag, when its data changed, and the cursor of the page after it."""

    body: bytes
    etag: str
    changed_at_ms: int
    next_cursor: str | None

    @classmethod
    def from_kv(cls, stored: KvBytes | None) -> "StoredReply | None":
        """Return None if there is no page, or one of another shape."""
        metadata: Any = stored.metadata if stored else None
        if stored is None or not isinstance(metadata, dict) or "etag" not in metadata:
            return None
        return cls(stored.value, metadata["etag"], metadata["changedAt"], metadata["next"])

    @property
    def metadata(self) -> PageMetadata:
        return {"etag": self.etag, "changedAt": self.changed_at_ms, "next": self.next_cursor}


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """Reads the snapshot with one operation, and a second one when it has changed."""

    kv: KvReader
    state: RemoteNewsState
    clock: Clock
    memory: SnapshotMemory = field(default_factory=SnapshotMemory)

    async def read_first_page(self) -> StoredReply | None:
        """Return the first page; one that was found is read at most once in two seconds, because KV itself may be a minute behind."""
        memory, now = self.memory, self.clock.now()
        if memory.first_page is None or not is_waiting(memory.first_page_until, now, REMEMBERED_S):
            memory.first_page = StoredReply.from_kv(await self.kv.get_bytes_with_metadata(FIRST_PAGE_KEY))
            memory.first_page_until = now + REMEMBERED_S
        return memory.first_page

    async def read(self) -> Snapshot:
        """Ask the object itself while the namespace has no snapshot, or an empty one."""
        version = await self.kv.get_text(VERSION_KEY)
        known = self.memory.snapshot
        if known is not None and known.articles and version == str(known.version):
            return known
        text = await self.kv.get_text(SNAPSHOT_KEY) if version is not None else None
        snapshot = Snapshot.parse(text) if text else None
        if snapshot is None or not snapshot.articles:
            snapshot = Snapshot.parse(await self.state.read_snapshot())
        self.memory.snapshot = snapshot
        return snapshot
