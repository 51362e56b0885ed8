"""What sluice-tail answers over HTTP."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.services.tail.journal import Journal
from sluice.web import CamelReplyModel, Doc, Reply, ReplyDoc, Request, Route, read_query
from sluice.web.admin import require_admin


class LogsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=100, description="How many records at most.")] = 50


class LoggedLine(CamelReplyModel):
    level: str
    message: str
    timestamp: int


class LoggedFailure(CamelReplyModel):
    name: str
    message: str
    timestamp: int


class Record(CamelReplyModel):
    """One unit of work of a Worker: times in milliseconds since 1970; url and method where it was a request."""

    timestamp: int
    script_name: str
    outcome: str
    url: str | None
    method: str | None
    logs: list[LoggedLine]
    exceptions: list[LoggedFailure]


class Records(CamelReplyModel):
    records: list[Record]


LOGS: Final = Doc(
    summary="What the Workers logged, newest first",
    tag="Logs",
    query=LogsQuery,
    replies={200: ReplyDoc("The newest records.", Records)},
    security=("admin",),
)


def routes(journal: Journal, admin_token: str) -> list[Route]:
    async def logs(request: Request) -> Reply:
        require_admin(request, admin_token)
        query = read_query(request, LogsQuery)
        records = await journal.latest(query.limit)
        return Reply.json({"records": records}, headers={"Cache-Control": "no-store"})

    return [Route("GET", "/logs", logs, doc=LOGS)]
