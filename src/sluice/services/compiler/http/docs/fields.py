"""Types that several replies share."""

from typing import Annotated, Final

from pydantic import Field

Timestamp = Annotated[str, Field(description="A time such as 2026-01-31T12:00:00.000Z.")]
EpochMs = Annotated[int, Field(description="Milliseconds since 1970.")]
# Of every duration in a reply.
DURATION: Final = (
    "Milliseconds by the Worker's clock. On Cloudflare that clock is exact at input and output only: in between it may stand still, "
    "or run on and be set back. So a duration there is mostly the time of waiting for sources and storage; it is never less than 0."
)
Duration = Annotated[int, Field(ge=0, description=DURATION)]
Count = Annotated[int, Field(ge=0)]
Millis = Annotated[float, Field(ge=0, description=DURATION)]
