"""What readers see of a published list."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, TypedDict

from sluice.core.compiler.published.definition import parse_definition
from sluice.core.compiler.published.versions import ListState
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.compiler.stage_metrics import Amount
from sluice.core.doc import Doc
from sluice.core.json_text import JsonObject
from sluice.core.timestamps import Timestamp, iso
from sluice.services.compiler.published.builds.build_workflow import BuildFacts
from sluice.services.compiler.published.keys import EXTENSION
from sluice.services.compiler.published.list_store import FormatCount, PublishedList
from sluice.services.compiler.published.sources.source_outcomes import SourceFacts

_SHOWN_COUNTS: Final = 30  # of each source


class ListFacts(TypedDict):
    name: str
    title: str
    description: str
    version: Annotated[int, Doc("0 while nothing was published.", minimum=0)]
    updatedAt: Timestamp | None
    ruleCount: Amount
    state: ListState
    url: str


class PublishedLists(TypedDict):
    lists: list[ListFacts]


class SourceCount(TypedDict):
    at: Timestamp
    ruleCount: Amount


class SourceWithHistory(SourceFacts, TypedDict):
    history: Annotated[list[SourceCount], Doc("Earlier counts, the newest first.")]


class FormatFacts(FormatCount, TypedDict):
    url: str


class PublishedListFacts(ListFacts):
    reason: str | None
    schedule: str
    minRules: int
    maxShrink: float
    sources: list[SourceWithHistory]
    formats: list[FormatFacts]
    lastBuild: BuildFacts | None


class BuildAccepted(TypedDict):
    name: str
    buildId: str
    url: str


class VersionFacts(TypedDict):
    version: int
    createdAt: Timestamp
    ruleCount: Amount


class Versions(TypedDict):
    versions: list[VersionFacts]


def describe_briefly(known: PublishedList, origin: str) -> ListFacts:
    stamp = known.published.get("stamp")
    return {
        "name": known.name,
        "title": known.definition.configuration.name,
        "description": known.definition.text,
        "version": known.version,
        "updatedAt": iso(stamp[1]) if stamp else None,
        "ruleCount": known.published.get("ruleCount", 0),
        "state": known.state,
        "url": f"{origin}/lists/{known.name}.{EXTENSION}",
    }


def describe_unstored(name: str, definition: JsonObject, origin: str) -> ListFacts:
    """Describe a declared list that no cron has seen yet."""
    parsed = parse_definition(definition)
    return {
        "name": name,
        "title": parsed.configuration.name,
        "description": parsed.text,
        "version": 0,
        "updatedAt": None,
        "ruleCount": 0,
        "state": ListState.FAILED,
        "url": f"{origin}/lists/{name}.{EXTENSION}",
    }


def describe_formats(known: PublishedList, origin: str) -> list[FormatFacts]:
    rows: Sequence[FormatCount] = known.published.get("formats", ())
    return [
        {**row, "url": f"{origin}/lists/{known.name}.{EXTENSION if row['format'] == 'adblock' else row['format']}"}
        for row in rows
    ]


def add_history(source: SourceFacts, counts: Mapping[str, list[tuple[int, int]]]) -> SourceWithHistory:
    """Add how many rules the source had before, the newest first."""
    rows = next((rows for address, rows in counts.items() if remove_secrets(address) == source["source"]), [])
    return {**source, "history": [{"at": iso(at_ms / 1000), "ruleCount": n} for at_ms, n in rows[:_SHOWN_COUNTS]]}
