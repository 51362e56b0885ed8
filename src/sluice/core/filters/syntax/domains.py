"""Domain names inside rules."""

import re
from typing import Final

_LABEL: Final = r"(?!-)[A-Za-z0-9-]{1,63}+(?<!-)"
_MAX_DOMAIN: Final = 255
_PLAIN_DOMAIN: Final = re.compile(rf"(?:{_LABEL}\.)+(?:{_LABEL}\.?)?")
_COMPRESSIBLE: Final = re.compile(r"\|\|[a-z0-9.-]+\^")
_ANY_LABEL: Final = r"(?!-)[A-Za-z0-9-]++(?<!-)"
_EXACT_PATTERN: Final = re.compile(rf"(?:\|\|)?(?:\*?\.)?({_ANY_LABEL}(?:\.{_ANY_LABEL})*+)\.?\^\|?")


def is_plain_domain(line: str) -> bool:
    """Return whether the line is a bare domain name, `example.com`; an IPv4 address counts as one."""
    return len(line) <= _MAX_DOMAIN and _PLAIN_DOMAIN.fullmatch(line) is not None


def is_compressible(pattern: str) -> bool:
    """Return whether the pattern is exactly `||host^`, in lower case."""
    return _COMPRESSIBLE.fullmatch(pattern) is not None


def extract_exact_domain(pattern: str) -> str | None:
    """Return the domain of a pattern that names only a domain: `||example.com^`, `*.com^`, `.com^|`."""
    match = _EXACT_PATTERN.fullmatch(pattern)
    return match[1] if match else None
