"""What a definition would publish, without publishing it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict

from sluice.core.compiler.published.definition import ListDefinition
from sluice.core.compiler.published.text_lines import TextLines
from sluice.core.compiler.published.versions import ListState
from sluice.core.compiler.stage_metrics import Amount
from sluice.core.ports import Bucket, Clock
from sluice.services.compiler.published.builds.build_steps import HoldLargeSlot, describe_outcomes
from sluice.services.compiler.published.builds.rule_compilation import FileLibrary, compile_rules, digest_rules
from sluice.services.compiler.published.differences import Difference, compare_rules, load_text
from sluice.services.compiler.published.list_store import ListStore
from sluice.services.compiler.published.sources.bundles import Bundle
from sluice.services.compiler.published.sources.good_copies import GoodCopyStore
from sluice.services.compiler.published.sources.source_fetcher import SourceFetcher
from sluice.services.compiler.published.sources.source_outcomes import SourceFacts, SourceOutcome


class Preview(Difference, TypedDict):
    name: str
    dryRun: Literal[True]
    ruleCount: Amount
    state: ListState
    wouldBeRefused: bool
    sources: list[SourceFacts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Previews:
    lists: ListStore
    copies: GoodCopyStore
    bucket: Bucket
    fetcher: SourceFetcher
    hold_large_slot: HoldLargeSlot
    clock: Clock

    async def check_size(self, name: str, definition: ListDefinition) -> None:
        """Raise TooLarge for a definition that can never be built, as far as its sources can be read now."""
        await self.fetcher.check_size(definition, await self.copies.load_copies(name))

    async def preview(self, name: str, definition: ListDefinition) -> Preview:
        """Return the rules that would be added and removed, and what each source would be taken from.

        Raise TooLarge as a build would.
        """
        outcomes = await self.fetcher.fetch_all(definition, await self.copies.load_copies(name))
        described = describe_outcomes(definition, outcomes)
        async with self.hold_large_slot():
            rules = await compile_rules(definition.configuration, _open_library(outcomes), self.clock)
            count, _ = digest_rules(rules)
            known = await self.lists.find(name)
            old = await load_text(self.bucket, name, known.version) if known and known.version else b""
            changes = compare_rules(TextLines(old), rules)
        return {
            "name": name,
            "dryRun": True,
            **changes,
            "ruleCount": count,
            "state": described["state"],
            "wouldBeRefused": count < definition.min_rules,
            "sources": described["sources"],
        }


def _open_library(outcomes: Iterable[SourceOutcome]) -> FileLibrary:
    packed = {one.source: one.packed for one in outcomes if one.packed}

    async def load(source: str) -> Bundle:
        return packed[source].unpack()

    return FileLibrary(packed, load)
