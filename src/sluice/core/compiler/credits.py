"""The homepage and the licence that a source states in its own header, to be kept in the header of the list."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from sluice.core.compiler.sources.line_splitting import flatten_to_one_line
from sluice.core.compiler.sources.locations import remove_secrets

_MAX_HEADER_LINES: Final = 100
_MAX_CHARS: Final = 300
_FIELD: Final = re.compile(
    r"[!#;]\s*(?:(?P<homepage>(?:project\s+)?home\s?page)|(?P<license>licen[cs]e))\s*:\s*(?P<value>\S.*)", re.IGNORECASE
)


class Credits(NamedTuple):
    """What a source says of itself; "" for what it does not say."""

    homepage: str = ""
    license: str = ""


def read_credits(lines: Sequence[str]) -> Credits:
    """Read the comments at the beginning of a source; the first statement of each kind counts."""
    found: dict[str, str] = {}
    for line in islice(lines, _MAX_HEADER_LINES):
        if line and not line.startswith(("!", "#", ";", "[")):
            break
        if field := _FIELD.match(line):
            name = "homepage" if field["homepage"] else "license"
            value = remove_secrets(flatten_to_one_line(field["value"]).strip())[:_MAX_CHARS]
            found.setdefault(name, value)
    return Credits(**found)
