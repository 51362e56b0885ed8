"""Cosmetic and HTML rules, which change pages: only the domains in front of the marker concern DNS."""

import re
from typing import Final

from sluice.core.filters.syntax.lines import WHITESPACE

# ## #@# #?# #@?# #$# #@$# #$?# #@$?# #%# #@%# $$ $@$, after domains without white space.
_COSMETIC: Final = re.compile(rf"([^{WHITESPACE}#$]*+)(?:#@?(?:\$\??|\?|%)?#|\$@?\$)")


def is_cosmetic(line: str) -> bool:
    return _COSMETIC.match(line) is not None


def split_cosmetic(line: str) -> tuple[str, str] | None:
    """Return the domains, and the rest from the marker on; None for any other line."""
    match = _COSMETIC.match(line)
    return (match[1], line[match.end(1) :]) if match else None
