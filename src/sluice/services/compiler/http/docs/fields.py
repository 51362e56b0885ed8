"""Types that several replies share."""

from typing import Annotated, Final

from pydantic import Field

Timestamp = Annotated[str, Field(description="A time such as 2026-01-31T12:00:00.000Z.")]
EpochMs = Annotated[int, Field(description="Milliseconds since 1970.")]
# Of every duration in a reply.
DURATION: Final = (
    "Milliseconds by the Worker's clock. On Cloudflare that clock stands still while code computes, so a duration there is the "
    "time spent waiting for sources and storage, not processor time; a clock that steps back gives 0."
)
Duration = Annotated[int, Field(ge=0, description=DURATION)]
Count = Annotated[int, Field(ge=0)]
Millis = Annotated[float, Field(ge=0, description=DURATION)]
