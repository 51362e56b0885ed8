"""The workflows of adblock-compiler: shells around what they do."""

from typing import Any

from workers import WorkflowEntrypoint
from workers.workflows import NonRetryableError

from sluice.platform.workflows import Steps
from sluice.workers.compiler import CompilerService
from sluice.workers.compiler_workflows import CompilerWorkflows

__all__ = ["BatchCompilationWorkflow", "CacheWarmingWorkflow", "CompilationWorkflow", "HealthMonitoringWorkflow"]


class _Workflow(WorkflowEntrypoint):
    """`part` names what runs."""

    part = ""

    async def run(self, event: Any, step: Any) -> dict[str, Any]:
        workflow = getattr(CompilerWorkflows(CompilerService(self.env, self.ctx)), self.part)
        done: dict[str, Any] = await workflow.run(event["instanceId"], event["payload"], Steps(step, NonRetryableError))
        return done


class CompilationWorkflow(_Workflow):
    part = "compilation"


class BatchCompilationWorkflow(_Workflow):
    part = "batch"


class CacheWarmingWorkflow(_Workflow):
    part = "warming"


class HealthMonitoringWorkflow(_Workflow):
    part = "health"
