"""Patterns of digits and dots: whole IPv4 addresses, and parts of addresses, which match too much."""

import re
from typing import Final, NamedTuple, Self

from sluice.core.filters.syntax.hostnames import parse_hostname

_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})"
_SHAPE: Final = re.compile(rf"(\|{{0,2}})({_OCTET}(?:\.{_OCTET}){{0,3}})(\.|\.?\.\*)?(\^\|?)?")
_NUMERIC: Final = re.compile(r"[0-9.]+")


class IpPattern(NamedTuple):
    """The parts of such a pattern: `||1.2.3.*` has anchor `||`, digits `1.2.3`, tail `.*` and no caret."""

    anchor: str
    digits: str
    tail: str
    caret: bool

    @classmethod
    def parse(cls, pattern: str) -> Self | None:
        match = _SHAPE.fullmatch(pattern)
        return cls(match[1], match[2], (match[3] or "").replace("..", "."), caret=bool(match[4])) if match else None

    @property
    def octets(self) -> int:
        return self.digits.count(".") + 1

    def is_subnet(self) -> bool:
        """Return whether it is `1.2.3.` or `1.2.3.*`: all addresses with this prefix."""
        return self.octets == 3 and bool(self.tail) and not self.caret

    def is_partial(self) -> bool:
        """Return whether it matches a part of an address or the end of a name, and so more than one address."""
        if self.caret and not self.anchor:
            return self.octets > 1
        return self.octets < 4 or bool(self.tail)

    def normalize(self) -> str | None:
        """Return the form that works everywhere: `||1.2.3.4^` for an address, `||1.2.3.*` for a subnet, else None."""
        if self.octets == 4 and not self.tail:
            return f"||{self.digits}^"
        return f"||{self.digits}{self.tail}" if self.is_subnet() and self.anchor != "||" else None


def is_address(pattern: str) -> bool:
    """Return whether the pattern without its anchors is one whole address."""
    text = pattern.removeprefix("|").removeprefix("|")
    text = text.removesuffix("|").removesuffix("^") if text.endswith("^|") else text.removesuffix("^")
    if not text.startswith("://") and not _NUMERIC.fullmatch(text):
        return False
    hostname = parse_hostname(text)
    return hostname is not None and hostname.is_ip
