"""Hostnames, extracted from addresses with scheme, user, port and path, and checked for valid characters.

The rules are those of the library tldts 7.0, which HostlistCompiler uses.
"""

import re
import string
from typing import Final, NamedTuple

from sluice.core.filters.syntax.punycode import normalise_name

_MAX_HOSTNAME: Final = 255
# Lower-case letters, digits, hyphen, underscore and everything non-ASCII; written as a negation it compiles ten times faster.
_LABEL: Final = r"[^\x00-,./:-^`{-\x7f]{1,63}+"
_VALID: Final = re.compile(rf"(?!-)\.?(?:{_LABEL}(?<![-_])\.)*+(?:{_LABEL}(?<!-))?")
_IPV4: Final = re.compile(r"(?=.{7,15}\Z)[0-9]+\.[0-9]*\.[0-9]*\.[0-9]+")
_IPV6: Final = re.compile(r"(?=.{3})(?=[^:]*:)[0-9a-f:]{1,39}\]?")
_UPPER: Final = re.compile("[A-Z]")
_CONTROL: Final = "".join(map(chr, range(0x21)))
_SCHEME: Final = re.compile(r"[A-Za-z0-9.+-]*")
_PATH_START: Final = re.compile("[/?#]")
_ASCII_NAME: Final = re.compile(r"[a-z0-9_.:-]*[a-z0-9_]")  # or an IP address
_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class Hostname(NamedTuple):
    """A hostname in lower case, or an IP address."""

    name: str
    is_ip: bool


def parse_hostname(text: str) -> Hostname | None:
    """Return the hostname in a text, in lower case and without final dots; None if it is missing or malformed."""
    name = _strip_final_dots(text) if _is_valid(text) else _extract_hostname(text)
    if not name:
        return None
    if _is_ip(name):
        return Hostname(name, is_ip=True)
    return Hostname(name, is_ip=False) if _is_valid(name) else None


def find_name(text: str) -> str | None:
    """Return the name in a text as DNS has it; the text may be an address with scheme, port and path. None without a name."""
    text = text.strip().translate(_LOWER)
    hostname = parse_hostname(text)
    name = normalise_name(hostname.name if hostname else text)
    return name if _ASCII_NAME.fullmatch(name) else None


def _is_ip(name: str) -> bool:
    """Match four groups of digits, or hexadecimal digits and colons; the numbers are not checked."""
    return _IPV4.fullmatch(name) is not None or _IPV6.fullmatch(name) is not None


def _is_valid(name: str) -> bool:
    return 0 < len(name) <= _MAX_HOSTNAME and _VALID.fullmatch(name) is not None


def _strip_final_dots(name: str) -> str:
    return name.rstrip(".") or name[:1]


def _extract_hostname(text: str) -> str | None:
    if text.startswith("data:"):
        return None
    rest = _remove_scheme(text.strip(_CONTROL))
    if rest is None:
        return None
    end = _PATH_START.search(rest)
    authority = rest[: end.start()] if end else rest
    name = _extract_host(authority)
    return name.lower() if _UPPER.search(authority) else name


def _remove_scheme(text: str) -> str | None:
    if text.startswith("//"):
        return text[2:]
    scheme, mark, rest = text.partition(":/")
    if not mark:
        return text
    return rest.lstrip("/") if _SCHEME.fullmatch(scheme) else None


def _extract_host(authority: str) -> str:
    """Remove the user and the port."""
    user = authority.rfind("@")
    host = authority[user + 1 :] if user > 0 else authority
    if host.startswith("["):
        return host[1 : max(1, host.rfind("]"))]
    port = host.rfind(":")
    return _strip_final_dots(host[:port] if port > 0 else host)
