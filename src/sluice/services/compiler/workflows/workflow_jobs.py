"""Workflows as jobs: whoever holds the id of a workflow gets its lists as those of a queued job."""

from collections.abc import Mapping
from typing import Any, Final

from sluice.core.errors import NotFound
from sluice.services.compiler.jobs.job_store import Job, JobKind, JobState
from sluice.services.compiler.ports import InstanceStatus
from sluice.services.compiler.workflows.starter import PREFIXES, ApiType, WorkflowStarter

_KINDS: Final[Mapping[ApiType, JobKind]] = {
    "compilation": "compile",
    "batch-compilation": "batch-compile",
    "cache-warming": "cache-warm",
}
_STATES: Final[Mapping[str, JobState]] = {
    "queued": "queued",
    "complete": "completed",
    "errored": "failed",
    "terminated": "cancelled",
}


async def find_workflow_job(starter: WorkflowStarter, workflow_id: str) -> Job | None:
    """Return the workflow as a job; None if there is none with this id."""
    kind = next((kind for kind in _KINDS if workflow_id.startswith(f"{PREFIXES[kind]}-")), None)
    if kind is None:
        return None
    try:
        status = await starter.instances[kind].status(workflow_id)
    except NotFound:
        return None
    return _to_job(workflow_id, _KINDS[kind], status)


def _to_job(workflow_id: str, kind: JobKind, status: InstanceStatus) -> Job:
    output: Mapping[str, Any] = status.output if isinstance(status.output, Mapping) else {}
    state = _STATES.get(status.state, "running")
    created = workflow_id.split("-")[-2]
    return Job(
        request_id=workflow_id,
        kind=kind,
        priority="standard",
        state="failed" if state == "completed" and not output.get("success") else state,
        config_name=str(output.get("configName", "")),
        attempts=1,
        duration_ms=output.get("totalDurationMs"),
        cache_key=output.get("cacheKey"),
        error=output.get("error") or status.error,
        created_ms=int(created) if created.isdigit() else 0,
        finished_ms=None,
    )
