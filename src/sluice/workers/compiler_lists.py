"""The published lists of adblock-compiler, composed from its bindings."""

import random
from functools import cached_property, partial
from typing import Any

from sluice.platform.bindings import require_binding
from sluice.platform.durable_objects import ObjectStub
from sluice.platform.identity import generate_id
from sluice.platform.workflows import Workflows
from sluice.services.compiler.http.lists import ListsApi
from sluice.services.compiler.published.builds.alerts import ListAlerts
from sluice.services.compiler.published.builds.build_steps import BuildSteps
from sluice.services.compiler.published.builds.publisher import Publisher
from sluice.services.compiler.published.builds.queue import BuildQueue
from sluice.services.compiler.published.builds.workflow import PublishedListWorkflow
from sluice.services.compiler.published.declared import read_declared_lists
from sluice.services.compiler.published.list_store import ListStore
from sluice.services.compiler.published.operator import ListOperator, take_large_turn
from sluice.services.compiler.published.previews import Previews
from sluice.services.compiler.published.queries import ListQueries
from sluice.services.compiler.published.sources.copy_store import CopyStore
from sluice.services.compiler.published.sources.source_fetcher import SourceFetcher
from sluice.workers.compiler_parts import CLOCK, TURNS, CompilerParts
from sluice.workers.declared_lists import LISTS_FILE


class CompilerLists(CompilerParts):
    """What serves, builds and changes published lists."""

    @cached_property
    def list_store(self) -> ListStore:
        return ListStore(database=self.database, clock=CLOCK)

    @cached_property
    def builds(self) -> BuildQueue:
        return BuildQueue(database=self.database, clock=CLOCK, new_id=generate_id)

    @cached_property
    def copies(self) -> CopyStore:
        return CopyStore(database=self.database, bucket=self.bucket, clock=CLOCK)

    @cached_property
    def source_fetcher(self) -> SourceFetcher:
        return SourceFetcher(
            fetch=self.fetcher.fetch, clock=CLOCK, draw=random.random, timeout_s=self.settings.list_source_timeout_s
        )

    @cached_property
    def steps(self) -> BuildSteps:
        return BuildSteps(
            lists=self.list_store,
            builds=self.builds,
            copies=self.copies,
            bucket=self.bucket,
            fetcher=self.source_fetcher,
            take_turn=partial(take_large_turn, TURNS, CLOCK),
            clock=CLOCK,
            log=self.log,
        )

    @cached_property
    def publisher(self) -> Publisher:
        return Publisher(
            lists=self.list_store,
            builds=self.builds,
            steps=self.steps,
            bucket=self.bucket,
            purge=self.entrypoint.purge_copies,
            clock=CLOCK,
        )

    @cached_property
    def entrypoint(self) -> Any:
        """The Worker itself: the cache before it can be purged only from there."""
        return ObjectStub(lambda: require_binding(self.env, "SELF"), "adblock-compiler")

    @cached_property
    def workflow(self) -> PublishedListWorkflow:
        return PublishedListWorkflow(
            lists=self.list_store,
            builds=self.builds,
            steps=self.steps,
            publisher=self.publisher,
            alerts=ListAlerts(
                database=self.database, fetch=self.fetcher.fetch, clock=CLOCK, url=self.settings.alert_webhook_url
            ),
            database=self.database,
            clock=CLOCK,
            log=self.log,
        )

    @cached_property
    def operator(self) -> ListOperator:
        return ListOperator(
            lists=self.list_store,
            builds=self.builds,
            publisher=self.publisher,
            bucket=self.bucket,
            instances=Workflows(self.env.PUBLISHED_LIST_WORKFLOW),
            load_declared=partial(read_declared_lists, self.settings.published_lists, LISTS_FILE),
            clock=CLOCK,
            log=self.log,
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
                bucket=self.bucket,
                fetcher=self.source_fetcher,
                take_turn=self.steps.take_turn,
                clock=CLOCK,
            ),
            queries=ListQueries(lists=self.list_store, bucket=self.bucket, take_turn=self.steps.take_turn),
            admin_token=self.settings.admin_token,
            public_url=self.settings.public_url,
        )
