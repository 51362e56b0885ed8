"""The lists that the maintainer's repository declares: in `lists.json`, which setting up makes a module, or in a variable."""

from collections.abc import Mapping
from functools import lru_cache

from sluice.core.compiler.published.definition import MAX_LISTS, parse_definition
from sluice.core.compiler.published.list_names import check_name
from sluice.core.errors import ConfigError, Invalid
from sluice.core.json_text import JsonObject, JsonValue, parse_json

_FORM = "a JSON object with a definition for each name"


@lru_cache(maxsize=2)
def read_declared_lists(variable: str, file: str = "") -> dict[str, JsonObject]:
    """Return the definitions by name; the variable PUBLISHED_LISTS adds to, and wins over, the file."""
    declared = {**_parse("lists.json", file), **_parse("PUBLISHED_LISTS", variable)}
    if len(declared) > MAX_LISTS:
        raise ConfigError(f"lists.json and PUBLISHED_LISTS name {len(declared)} lists; {MAX_LISTS} are possible")
    return declared


def _parse(origin: str, text: str) -> dict[str, JsonObject]:
    if not text.strip():
        return {}
    try:
        values = parse_json(text.encode())
        if not isinstance(values, Mapping):
            raise ConfigError(f"{origin} is not {_FORM}")
        for name, definition in values.items():
            _check(origin, name, definition)
    except Invalid as error:
        raise ConfigError(f"{origin}: {str(error).replace('the body', 'it')}") from None
    return dict(values)


def _check(origin: str, name: str, definition: JsonValue) -> None:
    try:
        check_name(name)
        parse_definition(definition)
    except Invalid as error:
        raise ConfigError(f"{origin}, list {name[:80]!r}: {error}") from None
