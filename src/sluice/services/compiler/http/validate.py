"""POST /configuration/validate: whether a configuration is valid, for editors."""

from typing import Final

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import BadField, Invalid
from sluice.web import Reply, Request, read_json

MAX_BYTES: Final = 256 * 1024


async def validate_configuration(request: Request) -> Reply:
    """Replies with every invalid field; an invalid configuration is a result here, not an error."""
    value = await read_json(request, max_bytes=MAX_BYTES)
    fields: tuple[BadField, ...] = ()
    try:
        parse_configuration(value)
    except Invalid as error:
        fields = error.fields
    errors = [{"path": field.field or "the configuration", "reason": field.reason} for field in fields]
    return Reply.json({"success": True, "valid": not errors, "errors": errors}, headers={"Cache-Control": "no-store"})
