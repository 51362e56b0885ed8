"""The workflows of adblock-compiler, composed from its bindings."""

from functools import cached_property, partial

from sluice.core.net.fetch import Fetcher
from sluice.platform.http.transport import send_request
from sluice.platform.worker import open_kv
from sluice.platform.workflows import Workflows
from sluice.services.compiler.cache.handover import StepHandover
from sluice.services.compiler.health.source import SourceCheck
from sluice.services.compiler.health.source_alerts import SourceAlerts
from sluice.services.compiler.health.workflow import HealthMonitoringWorkflow
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.published.builds.workflow import PublishedListWorkflow
from sluice.services.compiler.workflows.batch import BatchCompilationWorkflow
from sluice.services.compiler.workflows.batch_items import ItemRunner
from sluice.services.compiler.workflows.compilation import CompilationWorkflow
from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations
from sluice.services.compiler.workflows.run_reporter import RunReporter
from sluice.services.compiler.workflows.warming import CacheWarmingWorkflow
from sluice.workers.compiler_lists import CompilerLists
from sluice.workers.compiler_parts import CLOCK, CompilerParts


class CompilerWorkflows(CompilerParts):
    """The five workflows, and what reports their runs."""

    @cached_property
    def compilation(self) -> CompilationWorkflow:
        return CompilationWorkflow(
            compiler=self.list_compiler,
            handover=StepHandover(bucket=self.bucket, clock=CLOCK),
            spent=self.spent_fetches,
            params_store=self.params_store,
            reporter=self.reporter,
            clock=CLOCK,
        )

    @cached_property
    def batch(self) -> BatchCompilationWorkflow:
        return BatchCompilationWorkflow(items=self.items, params_store=self.params_store, reporter=self.reporter)

    @cached_property
    def warming(self) -> CacheWarmingWorkflow:
        return CacheWarmingWorkflow(
            items=ItemRunner(database=self.database, spent=self.spent_fetches, compile=self.lists.refresh, clock=CLOCK),
            find_expiry=self.list_cache.find_expiry,
            load_defaults=partial(warm_configurations, self.settings.warm_configurations),
            params_store=self.params_store,
            reporter=self.reporter,
            clock=CLOCK,
        )

    @cached_property
    def health(self) -> HealthMonitoringWorkflow:
        return HealthMonitoringWorkflow(
            check=SourceCheck(fetch=self.fetcher.fetch, clock=CLOCK),
            open_check=self._open_check,
            store=self.health_store,
            alerts=self.source_alerts,
            instances=Workflows(self.env.HEALTH_MONITORING_WORKFLOW),
            load_defaults=partial(health_sources, self.settings.health_sources),
            recheck_delay_s=self.settings.health_recheck_delay_s,
            published=open_kv(self.env, "METRICS"),
            reporter=self.reporter,
            clock=CLOCK,
        )

    def _open_check(self, allowance: FetchAllowance) -> SourceCheck:
        fetcher = Fetcher(allowance.limit_transport(send_request), self.allowed_hosts)
        return SourceCheck(fetch=fetcher.fetch, clock=CLOCK)

    @cached_property
    def published_list(self) -> PublishedListWorkflow:
        return CompilerLists(self.env, self.ctx).workflow

    @cached_property
    def source_alerts(self) -> SourceAlerts:
        return SourceAlerts(
            database=self.database, fetch=self.fetcher.fetch, clock=CLOCK, url=self.settings.alert_webhook_url
        )

    @cached_property
    def reporter(self) -> RunReporter:
        return RunReporter(
            event_log=self.event_log,
            published=open_kv(self.env, "METRICS"),
            analytics=self.analytics,
            log=self.log,
        )
