"""The rows of published lists: definitions, what is published, and the last versions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, NotRequired, TypedDict

from sluice.core.compiler.published.definition import MAX_LISTS, ListDefinition, parse_definition
from sluice.core.compiler.published.versions import MAX_VERSIONS, ListState, VersionStamp, stamp_version
from sluice.core.compiler.published.why_index import Shards
from sluice.core.compiler.stage_metrics import Amount
from sluice.core.doc import Doc
from sluice.core.errors import Conflict, NotFound
from sluice.core.json_text import JsonObject, encode_json
from sluice.core.ports import Clock, Database, DatabaseRow, Statement
from sluice.services.compiler.published.builds.build_queue import HOLDS
from sluice.services.compiler.published.sources.source_outcomes import SourceFacts

COUNTS_KEPT_MS: Final = 90 * 24 * 3600 * 1000
_SHOWN_COUNTS: Final = 1_000  # of all sources of a list together

_INSERT: Final = """
insert into published_lists (name, definition, origin, created_ms) select ?1, ?2, ?3, ?4
where exists (select 1 from published_lists where name = ?1) or (select count(*) from published_lists) < ?5
on conflict (name) do update set definition = ?2, origin = ?3
"""
_STAMP: Final = f"""
update published_lists set stamp_version = ?, stamp_s = ?, stamp_minute = ?, stamp_build = ?
where name = ? and (stamp_build is null or stamp_build <> ?) and {HOLDS}
"""  # noqa: S608 - only constants
_PUBLISH: Final = f"update published_lists set version = ?, published = ? where name = ? and {HOLDS}"  # noqa: S608 - only constants
_ADD_VERSION: Final = f"insert or replace into published_versions select ?, ?, ?, ?, ? where {HOLDS}"
_FORGET: Final = """
delete from published_versions where list = ?1
and version not in (select version from published_versions where list = ?1 order by version desc limit ?2)
"""
_DELETE: Final = (
    "delete from published_lists where name = ?",
    "delete from published_builds where list = ?",
    "delete from published_versions where list = ?",
    "delete from published_copies where list = ?",
    "delete from published_counts where list = ?",
)


class FormatCount(TypedDict):
    format: str
    entries: Amount
    skipped: Annotated[int, Doc("Rules that the format cannot express.", minimum=0)]


class IndexDirectory(Shards, TypedDict):
    """Where the parts of a stored index are. `parts` are the beginning and the length of each part, `version` the one whose index it is."""

    parts: dict[str, list[int]]
    version: NotRequired[int]


class SourceNotes(TypedDict):
    """What a version's header says of its sources; `input` and `signature` tell whether anything has changed."""

    input: str
    signature: list[list[str]]
    notes: list[list[str]]
    state: ListState


class VersionRecord(SourceNotes):
    """What is kept of a version; `stamp` is its number, its time in seconds and its minute."""

    stamp: list[int]
    headerLines: int
    patch: str
    ruleCount: int
    digest: str
    definition: str
    index: IndexDirectory
    formats: NotRequired[list[FormatCount]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedList:
    """One list: its definition as it was sent, and what is published of it; nothing before the first version."""

    name: str
    definition: ListDefinition
    origin: str
    version: int
    published: VersionRecord
    sources: Sequence[SourceFacts]
    state: ListState
    reason: str | None
    stamp: VersionStamp | None
    stamp_build: str | None
    alert_id: str | None


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """One of the last versions; `facts` are those of `published` at its time."""

    version: int
    created_s: int
    rule_count: int
    facts: VersionRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ListStore:
    database: Database
    clock: Clock

    async def put(self, name: str, definition: JsonObject, origin: str) -> bool:
        """Store a definition; return whether the list is new. Raise Conflict if there are too many lists."""
        known = await self.database.value("select count(*) from published_lists where name = ?", name)
        now_ms = self._now_ms()
        result = await self.database.run(_INSERT, name, encode_json(definition), origin, now_ms, MAX_LISTS)
        if not result.changes:
            raise Conflict(f"there are {MAX_LISTS} lists already: delete one first")
        return not known

    async def find(self, name: str) -> PublishedList | None:
        row = await self.database.first("select * from published_lists where name = ?", name)
        return _to_list(row) if row else None

    async def load(self, name: str) -> PublishedList:
        found = await self.find(name)
        if found is None:
            raise NotFound(f"there is no list {name}")
        return found

    async def load_for_build(self, name: str, build_id: str) -> PublishedList:
        """Return the list with the definition that it had when the build began, whatever was put since then."""
        found = await self.load(name)
        began_with = await self.database.value("select definition from published_builds where id = ?", build_id)
        return found if began_with is None else replace(found, definition=parse_definition(json.loads(began_with)))

    async def load_all(self) -> list[PublishedList]:
        rows = await self.database.all("select * from published_lists")
        return [_to_list(row) for row in rows]

    async def delete(self, name: str) -> None:
        await self.database.batch([(statement, (name,)) for statement in _DELETE])

    async def reserve_stamp(self, name: str, build_id: str) -> VersionStamp:
        """Return the stamp of the build's version; the same one if the build asks again."""
        known = await self.load(name)
        if known.stamp_build != build_id:
            stamp = stamp_version(known.stamp, self.clock.now())
            values = (stamp.version, stamp.created_s, stamp.minute)
            await self.database.run(_STAMP, *values, build_id, name, build_id, build_id)
            known = await self.load(name)
        if known.stamp is None or known.stamp_build != build_id:
            raise Conflict(f"another build of {name} has taken over")
        return known.stamp

    async def publish(self, name: str, build_id: str, version: StoredVersion) -> None:
        """Record a published version, and forget the oldest; raise Conflict if the build no longer holds its list."""
        facts = encode_json(version.facts)
        values = (name, version.version, version.created_s, version.rule_count, facts)
        statements: list[Statement] = [
            (_PUBLISH, (version.version, facts, name, build_id)),
            (_ADD_VERSION, (*values, build_id)),
            (_FORGET, (name, MAX_VERSIONS)),
        ]
        published, *_ = await self.database.batch(statements)
        if not published.changes:
            raise Conflict(f"{build_id} no longer holds {name}")

    async def load_versions(self, name: str) -> list[StoredVersion]:
        """Return the last versions, the newest first."""
        rows = await self.database.all(
            "select * from published_versions where list = ? order by version desc limit ?", name, MAX_VERSIONS
        )
        return [
            StoredVersion(row["version"], row["created_s"], row["rule_count"], json.loads(row["facts"])) for row in rows
        ]

    async def record_counts(self, name: str, counts: Mapping[str, int]) -> None:
        now_ms = self._now_ms()
        await self.database.batch(
            [("insert into published_counts values (?, ?, ?, ?)", (name, at, now_ms, n)) for at, n in counts.items()]
        )

    async def load_counts(self, name: str) -> dict[str, list[tuple[int, int]]]:
        """Return the times and counts of each source, the newest first."""
        rows = await self.database.all(
            "select * from published_counts where list = ? order by at_ms desc limit ?", name, _SHOWN_COUNTS
        )
        counts: dict[str, list[tuple[int, int]]] = {}
        for row in rows:
            counts.setdefault(row["source"], []).append((row["at_ms"], row["rule_count"]))
        return counts

    async def delete_expired(self) -> None:
        before_ms = self._now_ms() - COUNTS_KEPT_MS
        await self.database.batch(
            [
                ("delete from published_counts where at_ms < ?", (before_ms,)),
                ("delete from published_builds where requested_ms < ?", (before_ms,)),
                ("delete from published_alerts where created_ms < ?", (before_ms,)),
            ]
        )

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _to_list(row: DatabaseRow) -> PublishedList:
    stamp = VersionStamp(row["stamp_version"], row["stamp_s"], row["stamp_minute"]) if row["stamp_version"] else None
    return PublishedList(
        name=row["name"],
        definition=parse_definition(json.loads(row["definition"])),
        origin=row["origin"],
        version=row["version"],
        published=json.loads(row["published"]),
        sources=json.loads(row["sources"]),
        state=ListState(row["state"]),
        reason=row["reason"],
        stamp=stamp,
        stamp_build=row["stamp_build"],
        alert_id=row["alert_id"],
    )
