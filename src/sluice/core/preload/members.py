"""What members of replies mean that several replies have."""

from typing import Annotated, Literal

from sluice.core.doc import Doc
from sluice.core.preload.priority import Trigger

EpochS = Annotated[float, Doc("Seconds since 1970.")]
Amount = Annotated[int, Doc(minimum=0)]
Variant = Annotated[str, Doc("The variant of the page, such as device:mobile; absent for the plain one.")]
Priority = Annotated[float, Doc("The highest is warmed first.")]

# The trigger of a request, or "visit" for a page that a visitor saw before it was stored.
AnyTrigger = Trigger | Literal["visit"]
