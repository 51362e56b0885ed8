"""The five workflows, and what reports their runs."""

from functools import cached_property, partial

from sluice.core.net.fetch import Fetcher
from sluice.services.compiler.cache.handover import StepHandover
from sluice.services.compiler.health.health_workflow import HealthMonitoringWorkflow
from sluice.services.compiler.health.source_alerts import SourceAlerts
from sluice.services.compiler.health.source_check import SourceCheck
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.parts import CompilerParts
from sluice.services.compiler.published.builds.build_workflow import PublishedListWorkflow
from sluice.services.compiler.workflows.batch import BatchCompilationWorkflow
from sluice.services.compiler.workflows.batch_items import ItemRunner
from sluice.services.compiler.workflows.compilation import CompilationWorkflow
from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations
from sluice.services.compiler.workflows.run_reporter import RunReporter
from sluice.services.compiler.workflows.warming import CacheWarmingWorkflow


class CompilerWorkflows:
    def __init__(self, parts: CompilerParts) -> None:
        self._parts = parts
        self._ports = parts.ports

    @cached_property
    def compilation(self) -> CompilationWorkflow:
        return CompilationWorkflow(
            compiler=self._parts.list_compiler,
            handover=StepHandover(bucket=self._ports.bucket, clock=self._ports.clock),
            spent=self._parts.spent_fetches,
            params_store=self._parts.params_store,
            reporter=self.reporter,
            clock=self._ports.clock,
        )

    @cached_property
    def batch(self) -> BatchCompilationWorkflow:
        return BatchCompilationWorkflow(
            items=self._parts.items, params_store=self._parts.params_store, reporter=self.reporter
        )

    @cached_property
    def warming(self) -> CacheWarmingWorkflow:
        return CacheWarmingWorkflow(
            items=ItemRunner(
                database=self._ports.database,
                spent=self._parts.spent_fetches,
                compile=self._parts.lists.refresh,
                clock=self._ports.clock,
            ),
            find_expiry=self._parts.list_cache.find_expiry,
            load_defaults=partial(warm_configurations, self._parts.settings.warm_configurations),
            params_store=self._parts.params_store,
            reporter=self.reporter,
            clock=self._ports.clock,
        )

    @cached_property
    def health(self) -> HealthMonitoringWorkflow:
        return HealthMonitoringWorkflow(
            check=SourceCheck(fetch=self._parts.fetcher.fetch, clock=self._ports.clock),
            open_check=self._open_check,
            store=self._parts.health_store,
            alerts=self.source_alerts,
            instances=self._parts.find_instances("health-monitoring"),
            load_defaults=partial(health_sources, self._parts.settings.health_sources),
            recheck_delay_s=self._parts.settings.health_recheck_delay_s,
            published=self._ports.metrics,
            reporter=self.reporter,
            clock=self._ports.clock,
        )

    def _open_check(self, allowance: FetchAllowance) -> SourceCheck:
        fetcher = Fetcher(allowance.limit_transport(self._ports.transport), self._parts.allowed_hosts)
        return SourceCheck(fetch=fetcher.fetch, clock=self._ports.clock)

    @cached_property
    def published_list(self) -> PublishedListWorkflow:
        return self._parts.published_lists.workflow

    @cached_property
    def source_alerts(self) -> SourceAlerts:
        return SourceAlerts(
            database=self._ports.database,
            fetch=self._parts.fetcher.fetch,
            clock=self._ports.clock,
            url=self._parts.settings.alert_webhook_url,
        )

    @cached_property
    def reporter(self) -> RunReporter:
        return RunReporter(
            event_log=self._parts.event_log,
            published=self._ports.metrics,
            analytics=self._ports.analytics,
            log=self._ports.log,
        )
