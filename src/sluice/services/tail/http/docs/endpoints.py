"""The documentation of each route of sluice-tail; a test compares the replies with real ones."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.web.openapi.docs import CamelReplyModel, Doc, Documentation, ReplyDoc


class LogsQuery(BaseModel):
    """A test holds the reader of the handler against this model."""

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

ROUTES: Final[Documentation] = {("GET", "/logs"): LOGS}
