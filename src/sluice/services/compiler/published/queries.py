"""Questions about a published list: what changed, why a name is blocked, and what each source contributes."""

import json
from dataclasses import dataclass
from typing import cast

from sluice.core.compiler.published.text_lines import TextLines
from sluice.core.compiler.published.why_index import Explanation, ShardDirectory, explain
from sluice.core.errors import NotFound
from sluice.core.ports import Bucket
from sluice.services.compiler.published.builds.build_steps import OVERLAP, HoldLargeSlot, read_index_part
from sluice.services.compiler.published.builds.rule_compilation import Overlap
from sluice.services.compiler.published.differences import Difference, compare_rules, load_text
from sluice.services.compiler.published.list_store import ListStore, PublishedList


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQueries:
    lists: ListStore
    bucket: Bucket
    hold_large_slot: HoldLargeSlot

    async def compare_versions(self, name: str, old: int, new: int) -> Difference:
        await self.lists.load(name)
        known = {one.version for one in await self.lists.load_versions(name)}
        for version in (old, new):
            if version not in known:
                raise NotFound(f"list {name} has no version {version}: GET /lists/{name}/versions shows those it has")
        async with self.hold_large_slot():
            before, after = [TextLines(await load_text(self.bucket, name, version)) for version in (old, new)]
            return compare_rules(before, after)

    async def explain(self, name: str, domain: str) -> Explanation:
        """Return what the list says of a name, which rule says so, and where that rule stands."""
        known = await self._load_published(name)
        directory = ShardDirectory.from_json(known.published["index"])
        shards = [await read_index_part(self.bucket, known, str(at)) for at in directory.shards_of(domain)]
        general = await read_index_part(self.bucket, known, "general")
        return explain(directory, domain, shards, general)

    async def show_overlap(self, name: str) -> Overlap:
        """Return what the build has counted."""
        return cast(
            "Overlap", json.loads(await read_index_part(self.bucket, await self._load_published(name), OVERLAP))
        )

    async def _load_published(self, name: str) -> PublishedList:
        known = await self.lists.load(name)
        if not known.version:
            raise NotFound(f"list {name} has no version yet")
        return known
