"""What sluice-tail answers over HTTP."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sluice.tail.journal import Journal
from sluice.web import Reply, Request, Route, query_model
from sluice.web.admin import require_admin


class LogsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=100)] = 50


def routes(journal: Journal, admin_token: str) -> list[Route]:
    async def logs(request: Request) -> Reply:
        require_admin(request, admin_token)
        query = query_model(request, LogsQuery)
        records = await journal.latest(query.limit)
        return Reply.json({"records": records}, headers={"Cache-Control": "no-store"})

    return [Route("GET", "/logs", logs)]
