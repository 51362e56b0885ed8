"""Types that several replies share."""

from typing import Annotated

from pydantic import Field

Timestamp = Annotated[str, Field(description="A time such as 2026-01-31T12:00:00.000Z.")]
EpochMs = Annotated[int, Field(description="Milliseconds since 1970.")]
Count = Annotated[int, Field(ge=0)]
Millis = Annotated[float, Field(ge=0, description="Milliseconds.")]
