"""What serves, builds and changes published lists."""

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

from sluice.services.compiler.http.lists import ListsApi
from sluice.services.compiler.parts import CompilerParts
from sluice.services.compiler.published.builds.alerts import ListAlerts
from sluice.services.compiler.published.builds.build_queue import BuildQueue
from sluice.services.compiler.published.builds.build_steps import BuildSteps
from sluice.services.compiler.published.builds.build_workflow import PublishedListWorkflow
from sluice.services.compiler.published.builds.publisher import VersionPublisher
from sluice.services.compiler.published.declared import read_declared_lists
from sluice.services.compiler.published.list_store import ListStore
from sluice.services.compiler.published.operator import ListOperator, hold_large_slot
from sluice.services.compiler.published.previews import Previews
from sluice.services.compiler.published.queries import ListQueries
from sluice.services.compiler.published.sources.good_copies import GoodCopyStore
from sluice.services.compiler.published.sources.source_fetcher import SourceFetcher
from sluice.services.compiler.workflows.starter import PUBLISHED_LIST


class PublishedListParts:
    def __init__(self, parts: CompilerParts) -> None:
        self._parts = parts
        self._ports = parts.ports

    @cached_property
    def list_store(self) -> ListStore:
        return ListStore(database=self._ports.database, clock=self._ports.clock)

    @cached_property
    def builds(self) -> BuildQueue:
        return BuildQueue(database=self._ports.database, clock=self._ports.clock)

    @cached_property
    def copies(self) -> GoodCopyStore:
        return GoodCopyStore(database=self._ports.database, bucket=self._ports.bucket, clock=self._ports.clock)

    @cached_property
    def source_fetcher(self) -> SourceFetcher:
        return SourceFetcher(
            fetch=self._parts.fetcher.fetch,
            clock=self._ports.clock,
            draw=self._ports.draw,
            timeout_s=self._parts.settings.list_source_timeout_s,
        )

    @cached_property
    def steps(self) -> BuildSteps:
        return BuildSteps(
            lists=self.list_store,
            builds=self.builds,
            copies=self.copies,
            bucket=self._ports.bucket,
            fetcher=self.source_fetcher,
            hold_large_slot=partial(hold_large_slot, self._parts.memory.turns, self._ports.clock),
            clock=self._ports.clock,
            log=self._ports.log,
        )

    @cached_property
    def publisher(self) -> VersionPublisher:
        return VersionPublisher(
            lists=self.list_store,
            builds=self.builds,
            steps=self.steps,
            bucket=self._ports.bucket,
            purge=self._ports.purge,
            clock=self._ports.clock,
        )

    @cached_property
    def workflow(self) -> PublishedListWorkflow:
        return PublishedListWorkflow(
            lists=self.list_store,
            builds=self.builds,
            steps=self.steps,
            publisher=self.publisher,
            alerts=ListAlerts(
                database=self._ports.database,
                fetch=self._parts.fetcher.fetch,
                clock=self._ports.clock,
                url=self._parts.settings.alert_webhook_url,
            ),
            database=self._ports.database,
            clock=self._ports.clock,
            log=self._ports.log,
        )

    def _load_declared(self) -> Mapping[str, Mapping[str, Any]]:
        return read_declared_lists(self._parts.settings.published_lists, self._ports.load_lists_file())

    @cached_property
    def operator(self) -> ListOperator:
        return ListOperator(
            lists=self.list_store,
            builds=self.builds,
            publisher=self.publisher,
            bucket=self._ports.bucket,
            instances=self._parts.find_instances(PUBLISHED_LIST),
            load_declared=self._load_declared,
            clock=self._ports.clock,
            new_id=self._ports.new_id,
            log=self._ports.log,
        )

    @cached_property
    def api(self) -> ListsApi:
        return ListsApi(
            lists=self.list_store,
            builds=self.builds,
            operator=self.operator,
            previews=Previews(
                lists=self.list_store,
                copies=self.copies,
                bucket=self._ports.bucket,
                fetcher=self.source_fetcher,
                hold_large_slot=self.steps.hold_large_slot,
                clock=self._ports.clock,
            ),
            queries=ListQueries(
                lists=self.list_store, bucket=self._ports.bucket, hold_large_slot=self.steps.hold_large_slot
            ),
            keys=self._parts.keys,
            operators=self._parts.operators,
            public_url=self._parts.settings.public_url,
        )
