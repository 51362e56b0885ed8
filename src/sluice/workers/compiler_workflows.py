"""The workflows of adblock-compiler and what their clocks start, put together from its other parts."""

from functools import cached_property
from typing import Any, Final

from sluice.platform.clock import SystemClock
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv
from sluice.platform.workflows import Workflows
from sluice.services.compiler.health.alerts import Alerts
from sluice.services.compiler.health.source import SourceCheck
from sluice.services.compiler.health.store import HealthStore
from sluice.services.compiler.health.workflow import HealthMonitoringWorkflow
from sluice.services.compiler.http.workflows import WorkflowApi
from sluice.services.compiler.workflows.batch import BatchCompilationWorkflow
from sluice.services.compiler.workflows.compilation import CompilationWorkflow
from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations
from sluice.services.compiler.workflows.items import Items
from sluice.services.compiler.workflows.log import RunLog
from sluice.services.compiler.workflows.parcels import Parcels
from sluice.services.compiler.workflows.reporting import Reporting
from sluice.services.compiler.workflows.starts import ApiType, Starts
from sluice.services.compiler.workflows.warming import CacheWarmingWorkflow
from sluice.workers.compiler import CompilerService

WARMING_CRON: Final = "0 */6 * * *"
_CLOCK: Final = SystemClock()


class CompilerWorkflows:
    def __init__(self, service: CompilerService) -> None:
        self._service = service
        self._env = service.env

    @cached_property
    def compilation(self) -> CompilationWorkflow:
        return CompilationWorkflow(
            compiler=self._service.compilations,
            handover=self._service.handover,
            parcels=self.parcels,
            reporting=self.reporting,
            clock=_CLOCK,
        )

    @cached_property
    def batch(self) -> BatchCompilationWorkflow:
        return BatchCompilationWorkflow(items=self._service.items, parcels=self.parcels, reporting=self.reporting)

    @cached_property
    def warming(self) -> CacheWarmingWorkflow:
        return CacheWarmingWorkflow(
            items=Items(database=self._service.database, compile=self._service.desk.renew, clock=_CLOCK),
            expires_at=self._service.cache.expires_at,
            defaults=warm_configurations(self._service.settings.warm_configurations),
            parcels=self.parcels,
            reporting=self.reporting,
            clock=_CLOCK,
        )

    @cached_property
    def health(self) -> HealthMonitoringWorkflow:
        service = self._service
        return HealthMonitoringWorkflow(
            check=SourceCheck(fetch=service.fetcher.fetch, clock=_CLOCK),
            store=self.health_store,
            alerts=Alerts(
                database=service.database,
                fetch=service.fetcher.fetch,
                clock=_CLOCK,
                url=service.settings.alert_webhook_url,
            ),
            instances=Workflows(self._env.HEALTH_MONITORING_WORKFLOW),
            defaults=health_sources(service.settings.health_sources),
            recheck_delay_s=service.settings.health_recheck_delay_s,
            published=open_kv(self._env, "METRICS"),
            reporting=self.reporting,
            clock=_CLOCK,
        )

    @cached_property
    def api(self) -> WorkflowApi:
        return WorkflowApi(
            guard=self._service.guard,
            starts=self.starts,
            run_log=self.run_log,
            health=self.health_store,
            configurations=lambda: warm_configurations(self._service.settings.warm_configurations),
            sources=lambda: health_sources(self._service.settings.health_sources),
            clock=_CLOCK,
        )

    @cached_property
    def starts(self) -> Starts:
        instances: dict[ApiType, Workflows] = {
            "compilation": Workflows(self._env.COMPILATION_WORKFLOW),
            "batch-compilation": Workflows(self._env.BATCH_COMPILATION_WORKFLOW),
            "cache-warming": Workflows(self._env.CACHE_WARMING_WORKFLOW),
            "health-monitoring": Workflows(self._env.HEALTH_MONITORING_WORKFLOW),
        }
        return Starts(instances=instances, parcels=self.parcels, clock=_CLOCK, random_hex=generate_id)

    @cached_property
    def run_log(self) -> RunLog:
        return RunLog(database=self._service.database, clock=_CLOCK)

    @cached_property
    def reporting(self) -> Reporting:
        return Reporting(
            run_log=self.run_log,
            metrics=open_kv(self._env, "METRICS"),
            analytics=self._service.analytics,
            log=self._service.log,
        )

    @cached_property
    def parcels(self) -> Parcels:
        return Parcels(bucket=self._service.bucket, clock=_CLOCK)

    @cached_property
    def health_store(self) -> HealthStore:
        return HealthStore(database=self._service.database, clock=_CLOCK)

    async def on_schedule(self, cron: str, scheduled_ms: int) -> None:
        """Every six hours the warming, every hour the health of the sources and what else needs looking after."""
        settings = self._service.settings
        if cron == WARMING_CRON:
            await self.starts.warming(scheduled_ms, warm_configurations(settings.warm_configurations))
            return
        await self.starts.health(scheduled_ms, health_sources(settings.health_sources))
        await self._service.jobs.sweep()
        await self._tidy()

    async def _tidy(self) -> None:
        service = self._service
        keepers: tuple[Any, ...] = (
            service.jobs,
            service.records,
            service.items,
            service.cache,
            self.run_log,
            self.health_store,
        )
        for keeper in keepers:
            await keeper.tidy()


async def on_schedule(service: CompilerService, controller: Any) -> None:
    await CompilerWorkflows(service).on_schedule(controller.cron, round(controller.scheduledTime))
