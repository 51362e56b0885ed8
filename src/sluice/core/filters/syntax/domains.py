"""Shapes of domain names inside rules."""

import re
from typing import Final

_LABEL: Final = r"(?!-)[A-Za-z0-9-]{1,63}+(?<!-)"
_MAX_DOMAIN: Final = 255
_PLAIN_DOMAIN: Final = re.compile(rf"(?:{_LABEL}\.)+(?:{_LABEL}\.?)?")
_COMPRESSIBLE: Final = re.compile(r"\|\|[a-z0-9.-]+\^")
_ANY_LABEL: Final = r"(?!-)[A-Za-z0-9-]++(?<!-)"
_EXACT_PATTERN: Final = re.compile(rf"(?:\|\|)?(?:\*?\.)?({_ANY_LABEL}(?:\.{_ANY_LABEL})*+)\.?\^\|?")


def is_plain_domain(line: str) -> bool:
    """A bare domain name, `example.com`; an IPv4 address is one too."""
    return len(line) <= _MAX_DOMAIN and _PLAIN_DOMAIN.fullmatch(line) is not None


def is_compressible(pattern: str) -> bool:
    """Exactly `||host^`, in lower case."""
    return _COMPRESSIBLE.fullmatch(pattern) is not None


def exact_domain(pattern: str) -> str | None:
    """The domain of a pattern that names one and nothing else: `||example.com^`, `*.com^`, `.com^|`."""
    found = _EXACT_PATTERN.fullmatch(pattern)
    return found[1] if found else None
