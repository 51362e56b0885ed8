"""What is taken for each source of a list, and whether all of it fits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypedDict

from sluice.core.compiler.published.definition import ListDefinition
from sluice.core.compiler.published.version_text import SourceNote, describe_copy
from sluice.core.compiler.published.versions import SourceState
from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.compiler.stage_metrics import Amount
from sluice.core.doc import Doc
from sluice.core.errors import TooLarge
from sluice.core.timestamps import Timestamp, iso
from sluice.services.compiler.published.sources.bundles import PackedBundle
from sluice.services.compiler.published.sources.sizes import NO_SIZE, SourceSize, find_excess


class SourceFacts(TypedDict):
    source: Annotated[str, Doc("The address without its query.")]
    state: SourceState
    ruleCount: Amount
    fetchedAt: Timestamp | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodCopy:
    """The last good copy of a source."""

    rule_count: int
    fetched_s: float
    packed: PackedBundle


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOutcome:
    """What is taken for a source. `packed` is None if there is nothing; `mirror` is the address that answered.

    `is_too_large` if it was not taken from its address because of a limit.
    """

    source: str
    state: SourceState
    packed: PackedBundle | None
    rule_count: int = 0
    fetched_s: float | None = None
    reason: str = ""
    mirror: str = ""
    is_patterns: bool = False
    is_too_large: bool = False
    size: SourceSize = NO_SIZE

    @property
    def facts(self) -> SourceFacts:
        """What readers see of it."""
        return {
            "source": remove_secrets(self.source),
            "state": self.state,
            "ruleCount": self.rule_count,
            "fetchedAt": None if self.fetched_s is None else iso(self.fetched_s),
            "reason": self.reason or None,
        }

    @property
    def note(self) -> SourceNote | None:
        """What the header says about it; nothing if the source is as it should be."""
        match self.state:
            case SourceState.OK:
                return None
            case SourceState.LAST_GOOD:
                substitute = describe_copy(self.fetched_s or 0)
            case SourceState.MIRROR:
                substitute = f"mirror {remove_secrets(self.mirror)}"
            case SourceState.FAILED:
                substitute = "missing"
        return SourceNote(self.source, substitute, self.reason)


def list_addresses(definition: ListDefinition) -> dict[str, bool]:
    """Return what a list is built from, in its own order: each source, and each file of patterns, which is marked so."""
    configuration = definition.configuration
    parts = (configuration, *configuration.sources)
    sources = {source.source: False for source in configuration.sources}
    return sources | {file: True for part in parts for file in part.pattern_files if file not in sources}


def check_limits(definition: ListDefinition, found: Mapping[str, SourceOutcome]) -> list[SourceOutcome]:
    """Return the outcomes in the order of the definition; raise TooLarge if a limit keeps some of them out of the list."""
    outcomes = [found[address] for address in list_addresses(definition) if address in found]
    for outcome in outcomes:
        if outcome.is_too_large and outcome.state is SourceState.FAILED:
            raise TooLarge(f"Source {remove_secrets(outcome.source)}: {outcome.reason}")
    if excess := find_excess(outcome.size for outcome in outcomes):
        raise excess
    return outcomes
