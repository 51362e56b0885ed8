"""The replies about published lists. Handlers build plain values; a test holds these models against the replies."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sluice.services.compiler.http.docs.fields import Count, Timestamp
from sluice.services.compiler.published.differences import MAX_LISTED
from sluice.web.openapi.docs import Absent, CamelReplyModel

ListStateName = Literal["fresh", "degraded", "failed"]


class ListFacts(CamelReplyModel):
    name: str
    title: str
    description: str
    version: Annotated[int, Field(ge=0, description="0 while nothing was published.")]
    updated_at: Timestamp | None
    rule_count: Count
    state: ListStateName
    url: str


class PublishedLists(CamelReplyModel):
    lists: list[ListFacts]


class SourceCount(CamelReplyModel):
    at: Timestamp
    rule_count: Count


class SourceFacts(CamelReplyModel):
    source: Annotated[str, Field(description="The address without its query.")]
    state: Literal["ok", "last-good", "mirror", "failed"]
    rule_count: Count
    fetched_at: Timestamp | None
    reason: str | None


class SourceWithHistory(SourceFacts):
    history: Annotated[list[SourceCount], Field(description="Earlier counts, the newest first.")]


class FormatFacts(CamelReplyModel):
    format: str
    url: str
    entries: Count
    skipped: Annotated[int, Field(ge=0, description="Rules that the format cannot express.")]


class BuildFacts(CamelReplyModel):
    id: str
    started_at: Timestamp
    ended_at: Timestamp | None
    outcome: Literal["published", "unchanged", "refused", "failed"] | None
    reason: str | None


class PublishedListFacts(ListFacts):
    reason: str | None
    schedule: str
    min_rules: int
    max_shrink: float
    sources: list[SourceWithHistory]
    formats: list[FormatFacts]
    last_build: BuildFacts | None


class BuildAccepted(CamelReplyModel):
    name: str
    build_id: str
    url: str


class UnlistedRules(CamelReplyModel):
    added: Count
    removed: Count


class Difference(CamelReplyModel):
    added: Annotated[list[str], Field(max_length=MAX_LISTED)]
    removed: Annotated[list[str], Field(max_length=MAX_LISTED)]
    unlisted: Annotated[
        UnlistedRules | Absent, Field(description="How many more there are, if not all are listed.")
    ] = None


class Preview(Difference):
    name: str
    dry_run: Literal[True]
    rule_count: Count
    state: ListStateName
    would_be_refused: bool
    sources: list[SourceFacts]


class VersionFacts(CamelReplyModel):
    version: int
    created_at: Timestamp
    rule_count: Count


class Versions(CamelReplyModel):
    versions: list[VersionFacts]


class RulePlace(CamelReplyModel):
    source: str
    file: str
    line: int


class Explanation(CamelReplyModel):
    verdict: Literal["blocked", "allowed", "none"]
    rule: str | None
    sources: list[RulePlace]


class SourceOverlap(CamelReplyModel):
    source: str
    rules: Count
    unique: Annotated[int, Field(ge=0, description="Rules that no other source has.")]
    shared: Count


class PairOverlap(CamelReplyModel):
    a: str
    b: str
    shared: Count


class Overlap(CamelReplyModel):
    sources: list[SourceOverlap]
    pairs: list[PairOverlap]


class PutQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    dryRun: Annotated[  # noqa: N815 - as it is sent
        bool, Field(description="Answer what would change, and publish nothing.")
    ] = False


class DifferenceQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    older: Annotated[int, Field(alias="from", ge=1, le=2**31, description="A version.", examples=[1])]
    newer: Annotated[int, Field(alias="to", ge=1, le=2**31, description="A version.", examples=[2])]


class WhyQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    domain: Annotated[
        str,
        Field(
            min_length=1,
            max_length=2_048,
            description="A host name in any script, or an address with it.",
            examples=["ads.example.org"],
        ),
    ]
