"""The routes of sluice-tail."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sluice.services.tail.journal import Journal
from sluice.web import Reply, Request, Route, read_query
from sluice.web.admin import require_admin


class LogsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=100, description="The maximum number of records.")] = 50


def tail_routes(journal: Journal, admin_token: str) -> list[Route]:
    async def list_logs(request: Request) -> Reply:
        require_admin(request, admin_token)
        query = read_query(request, LogsQuery)
        records = await journal.newest_records(query.limit)
        return Reply.json({"records": records}, headers={"Cache-Control": "no-store"})

    return [Route("GET", "/logs", list_logs)]
