"""Words about a member of a reply or of a stored value, written where the member is declared.

`Annotated[int, Doc("How many.", minimum=0)]` costs a Worker nothing: only the API document, which is built before a deployment, reads it.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar

Kind = TypeVar("Kind", bound=type)
# The attribute of a typed dictionary that says whether its objects may have other members.
OTHER_MEMBERS: Final = "__other_members__"


class Doc(NamedTuple):
    """What a member means, and the limits of its value, or of the length of an array."""

    text: str = ""
    minimum: float | None = None
    maximum: float | None = None
    # The model whose JSON schema describes the value; the value itself is plain JSON.
    model: Any = None
    # Further members of the JSON schema.
    more: tuple[tuple[str, str | int], ...] = ()


def other_members(*, allowed: bool) -> Callable[[Kind], Kind]:
    """Declare whether an object may have members that its typed dictionary does not name."""

    def mark(kind: Kind) -> Kind:
        setattr(kind, OTHER_MEMBERS, allowed)
        return kind

    return mark
