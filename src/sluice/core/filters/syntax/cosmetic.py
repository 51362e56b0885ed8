"""Cosmetic and HTML rules: they change pages, so all they have for DNS is the domains in front of the marker."""

import re
from typing import Final

from sluice.core.filters.syntax.lines import WHITESPACE

# ## #@# #?# #@?# #$# #@$# #$?# #@$?# #%# #@%# $$ $@$, behind domains that hold no white space.
_COSMETIC: Final = re.compile(rf"([^{WHITESPACE}#$]*+)(?:#@?(?:\$\??|\?|%)?#|\$@?\$)")


def is_cosmetic(line: str) -> bool:
    return _COSMETIC.match(line) is not None


def split_cosmetic(line: str) -> tuple[str, str] | None:
    """The domains, and the rest from the marker on."""
    found = _COSMETIC.match(line)
    return (found[1], line[found.end(1) :]) if found else None
