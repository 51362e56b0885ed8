"""POST /configuration/validate: whether a configuration is valid, for editors."""

from dataclasses import dataclass
from typing import Final, Literal, TypedDict

from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.errors import BadField, Invalid
from sluice.services.compiler.ports import ReadGuardedBody
from sluice.services.compiler.requests import CONFIGURATION_EXAMPLE
from sluice.web import Reply, Request
from sluice.web.operations import Operation, ReplyDoc, describe
from sluice.web.problems import FieldProblem

MAX_BYTES: Final = 256 * 1024


class ValidationReply(TypedDict):
    """Every invalid field; none if the configuration is valid."""

    success: Literal[True]
    valid: bool
    errors: list[FieldProblem]


VALIDATE: Final = Operation(
    "validateConfiguration",
    "Whether a configuration is valid",
    {200: ReplyDoc("Every invalid field.", ValidationReply)},
    "An invalid configuration is a result here, not an error.",
    tag="Compile",
    body=Configuration,
    example=CONFIGURATION_EXAMPLE,
    problems=(429,),
)


@dataclass(frozen=True, slots=True)
class ValidateApi:
    """The guard has a limit of its own: an editor validates more often than it compiles."""

    guard: ReadGuardedBody

    @describe(VALIDATE)
    async def validate(self, request: Request) -> Reply:
        """Reply with every invalid field; an invalid configuration is a result here, not an error."""
        value = await self.guard(request, max_bytes=MAX_BYTES)
        fields: tuple[BadField, ...] = ()
        try:
            parse_configuration(value)
        except Invalid as error:
            fields = error.fields
        errors: list[FieldProblem] = [
            {"path": field.field or "the configuration", "reason": field.reason} for field in fields
        ]
        reply = ValidationReply(success=True, valid=not errors, errors=errors)
        return Reply.json(reply, headers={"Cache-Control": "no-store"})
