"""The queries in the documentation; a test holds the readers of the handlers against these models."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class ResultQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    item: Annotated[str | None, Field(description="The id of an item of a batch: the reply is its list.")] = None


class EventsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    since: Annotated[
        str | None,
        Field(description="Only events after this time.", examples=["2026-01-31T12:00:00.000Z"]),
    ] = None
