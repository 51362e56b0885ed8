"""The routes of sluice-tail."""

from typing import Final, TypedDict

from sluice.services.tail.journal import Journal
from sluice.services.tail.tail_events import Record
from sluice.web import Reply, Request, Route
from sluice.web.admin import OperatorGate
from sluice.web.operations import Operation, ReplyDoc, describe
from sluice.web.parameters import Query, integer

LIMIT: Final = integer("limit", 50, minimum=1, maximum=100, about="The maximum number of records.")


class Records(TypedDict):
    records: list[Record]


LIST_LOGS: Final = Operation(
    "listLogs",
    "What the Workers logged, newest first",
    {200: ReplyDoc("The newest records.", Records)},
    tag="Logs",
    query=Query(LIMIT),
    security=("admin",),
)


def tail_routes(journal: Journal, operators: OperatorGate) -> list[Route]:
    @describe(LIST_LOGS)
    async def list_logs(request: Request) -> Reply:
        await operators.admit(request)
        records = await journal.newest_records(LIST_LOGS.read(request)[LIMIT])
        return Reply.json(Records(records=records))

    return [Route("GET", "/logs", list_logs)]
