"""POST /configuration/validate: whether a configuration is one, for those who are still writing it."""

from typing import Final

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import BadField, Invalid
from sluice.web import Reply, Request, read_json

MAX_BYTES: Final = 256 * 1024


async def validate(request: Request) -> Reply:
    """Every field that does not fit, and none when all do; that it does not fit is an answer, not an error."""
    given = await read_json(request, max_bytes=MAX_BYTES)
    fields: tuple[BadField, ...] = ()
    try:
        parse_configuration(given)
    except Invalid as error:
        fields = error.fields
    errors = [{"path": field.field or "the configuration", "reason": field.reason} for field in fields]
    return Reply.json({"success": True, "valid": not errors, "errors": errors}, headers={"Cache-Control": "no-store"})
