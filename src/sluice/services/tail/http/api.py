"""The routes of sluice-tail."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.services.tail.journal import Journal
from sluice.web import CamelReplyModel, Doc, Reply, ReplyDoc, Request, Route, read_query
from sluice.web.admin import require_admin


class LogsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=100, description="The maximum number of records.")] = 50


class LoggedLine(CamelReplyModel):
    level: str
    message: str
    timestamp: int


class LoggedException(CamelReplyModel):
    name: str
    message: str
    timestamp: int


class Record(CamelReplyModel):
    """One invocation of a Worker: times in milliseconds since 1970; url and method only for a request."""

    timestamp: int
    script_name: str
    outcome: str
    url: str | None
    method: str | None
    logs: list[LoggedLine]
    exceptions: list[LoggedException]


class Records(CamelReplyModel):
    records: list[Record]


LOGS: Final = Doc(
    summary="What the Workers logged, newest first",
    tag="Logs",
    query=LogsQuery,
    replies={200: ReplyDoc("The newest records.", Records)},
    security=("admin",),
)


def tail_routes(journal: Journal, admin_token: str) -> list[Route]:
    async def list_logs(request: Request) -> Reply:
        require_admin(request, admin_token)
        query = read_query(request, LogsQuery)
        records = await journal.newest_records(query.limit)
        return Reply.json({"records": records}, headers={"Cache-Control": "no-store"})

    return [Route("GET", "/logs", list_logs, doc=LOGS)]
