"""What a definition would publish, without publishing it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.core.compiler.published.definition import ListDefinition
from sluice.core.ports import Bucket, Clock
from sluice.services.compiler.published.builds.build_steps import TakeTurn, describe_outcomes
from sluice.services.compiler.published.builds.list_compiler import compile_rules
from sluice.services.compiler.published.differences import compare_rules, load_text
from sluice.services.compiler.published.list_store import ListStore
from sluice.services.compiler.published.sources.copy_store import CopyStore
from sluice.services.compiler.published.sources.source_fetcher import SourceFetcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Previews:
    lists: ListStore
    copies: CopyStore
    bucket: Bucket
    fetcher: SourceFetcher
    take_turn: TakeTurn
    clock: Clock

    async def preview(self, name: str, definition: ListDefinition) -> dict[str, Any]:
        """Returns the rules that would be added and removed, and what each source would be taken from."""
        outcomes = await self.fetcher.fetch_all(definition, await self.copies.load_copies(name))
        described = describe_outcomes(definition, outcomes)
        bundles = {one.source: one.bundle for one in outcomes if one.bundle}
        async with self.take_turn():
            rules = await compile_rules(definition.configuration, bundles, self.clock)
            known = await self.lists.find(name)
            old = await load_text(self.bucket, name, known.version) if known and known.version else b""
            changes = compare_rules(old, rules.lines)
        return {
            **changes,
            "ruleCount": rules.rule_count,
            "state": described["state"],
            "wouldBeRefused": rules.rule_count < definition.min_rules,
            "sources": described["sources"],
        }


def describe_preview(name: str, preview: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "dryRun": True, **preview}
