"""The workflows of adblock-compiler."""

from typing import Any

from workers import WorkflowEntrypoint
from workers.workflows import NonRetryableError

from sluice.platform.workflows import Steps
from sluice.workers.compiler_workflows import CompilerWorkflows

__all__ = ["BatchCompilationWorkflow", "CacheWarmingWorkflow", "CompilationWorkflow", "HealthMonitoringWorkflow"]


class _Workflow(WorkflowEntrypoint):
    """`part` is the name of the workflow among the parts."""

    part = ""

    async def run(self, event: Any, step: Any) -> Any:
        workflow = getattr(CompilerWorkflows(self.env, self.ctx), self.part)
        return await workflow.run(event["instanceId"], event["payload"], Steps(step, NonRetryableError))


class CompilationWorkflow(_Workflow):
    part = "compilation"


class BatchCompilationWorkflow(_Workflow):
    part = "batch"


class CacheWarmingWorkflow(_Workflow):
    part = "warming"


class HealthMonitoringWorkflow(_Workflow):
    part = "health"
