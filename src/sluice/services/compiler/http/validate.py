"""POST /configuration/validate: whether a configuration is valid, for editors."""

from dataclasses import dataclass
from typing import Final

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import BadField, Invalid
from sluice.services.compiler.ports import ReadGuardedBody
from sluice.web import Reply, Request

MAX_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class ValidateApi:
    """The guard has a limit of its own: an editor validates more often than it compiles."""

    guard: ReadGuardedBody

    async def validate(self, request: Request) -> Reply:
        """Replies with every invalid field; an invalid configuration is a result here, not an error."""
        value = await self.guard(request, max_bytes=MAX_BYTES)
        fields: tuple[BadField, ...] = ()
        try:
            parse_configuration(value)
        except Invalid as error:
            fields = error.fields
        errors = [{"path": field.field or "the configuration", "reason": field.reason} for field in fields]
        return Reply.json(
            {"success": True, "valid": not errors, "errors": errors}, headers={"Cache-Control": "no-store"}
        )
