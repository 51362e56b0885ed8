"""The workflows of adblock-compiler."""

from typing import Any

from workers import WorkflowEntrypoint
from workers.workflows import NonRetryableError

__all__ = [
    "BatchCompilationWorkflow",
    "CacheWarmingWorkflow",
    "CompilationWorkflow",
    "HealthMonitoringWorkflow",
    "PublishedListWorkflow",
]


class _Workflow(WorkflowEntrypoint):
    """A workflow class of the SDK. `part` is the name of the workflow among the parts."""

    part = ""

    async def run(self, event: Any, step: Any) -> Any:
        # A workflow is rarer than a request, so its modules do not delay the start of the Worker.
        from sluice.platform.workflows import Steps  # noqa: PLC0415 - rare
        from sluice.workers.compiler import open_compiler  # noqa: PLC0415 - rare

        workflow = getattr(open_compiler(self.env, self.ctx).workflows, self.part)
        return await workflow.run(event["instanceId"], event["payload"], Steps(step, NonRetryableError))


class CompilationWorkflow(_Workflow):
    part = "compilation"


class BatchCompilationWorkflow(_Workflow):
    part = "batch"


class CacheWarmingWorkflow(_Workflow):
    part = "warming"


class HealthMonitoringWorkflow(_Workflow):
    part = "health"


class PublishedListWorkflow(_Workflow):
    part = "published_list"
