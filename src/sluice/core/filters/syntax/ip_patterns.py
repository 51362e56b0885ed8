"""Patterns made of digits and dots: whole addresses, and parts of addresses that match more than one would think."""

import re
from typing import Final, NamedTuple, Self

from sluice.core.filters.syntax.hostnames import parse_hostname

_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9]{1,2})"
_SHAPE: Final = re.compile(rf"(\|{{0,2}})({_OCTET}(?:\.{_OCTET}){{0,3}})(\.|\.?\.\*)?(\^\|?)?")
_NUMERIC: Final = re.compile(r"[0-9.]+")


class IpPattern(NamedTuple):
    """Such a pattern taken apart: `||1.2.3.*` has anchor `||`, digits `1.2.3`, tail `.*` and no caret."""

    anchor: str
    digits: str
    tail: str
    caret: bool

    @classmethod
    def parse(cls, pattern: str) -> Self | None:
        found = _SHAPE.fullmatch(pattern)
        return cls(found[1], found[2], (found[3] or "").replace("..", "."), caret=bool(found[4])) if found else None

    @property
    def octets(self) -> int:
        return self.digits.count(".") + 1

    def is_subnet(self) -> bool:
        """`1.2.3.` or `1.2.3.*`: all addresses that start so."""
        return self.octets == 3 and bool(self.tail) and not self.caret

    def is_partial(self) -> bool:
        """It matches a part of an address, or the end of a name, and so more than one address."""
        if self.caret and not self.anchor:
            return self.octets > 1
        return self.octets < 4 or bool(self.tail)

    def normal(self) -> str | None:
        """The form that works everywhere, `||1.2.3.4^` for an address or `||1.2.3.*` for a subnet, if there is one."""
        if self.octets == 4 and not self.tail:
            return f"||{self.digits}^"
        return f"||{self.digits}{self.tail}" if self.is_subnet() and self.anchor != "||" else None


def is_address(pattern: str) -> bool:
    """Whether the pattern, freed of its anchors, is one whole address."""
    text = pattern.removeprefix("|").removeprefix("|")
    text = text.removesuffix("|").removesuffix("^") if text.endswith("^|") else text.removesuffix("^")
    if not text.startswith("://") and not _NUMERIC.fullmatch(text):
        return False
    hostname = parse_hostname(text)
    return hostname is not None and hostname.is_ip
