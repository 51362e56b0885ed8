"""Cache directives as RFC 9111 and, for fields that address one kind of cache, RFC 9213 read them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

MAX_SECONDS: Final = 2**31
_DIRECTIVE: Final = re.compile(
    r"""[\s,]*(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:=\s*(?P<value>"(?:[^"\\]|\\.)*"|[^",]*))?[^,]*""", re.DOTALL
)
_SECONDS: Final = re.compile(r"[0-9]{1,20}")
_MEMBER: Final = re.compile(
    r"""(?P<name>[a-z*][a-z0-9_.*-]*)(?:=(?P<value>-?[0-9]{1,15}|"[^"\\]*"|\?[01]|[A-Za-z*][!#$%&'*+.^_`|~:/0-9A-Za-z-]*))?(?:;[^,]*)?"""
)
_COUNTED: Final = frozenset({"max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"})


@dataclass(frozen=True, slots=True)
class Directives:
    """The directives of a field, each with all of its values; "" where it has none."""

    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse Cache-Control leniently: what is not a directive is skipped."""
        values: dict[str, tuple[str, ...]] = {}
        for match in _DIRECTIVE.finditer(text):
            name, value = match["name"].lower(), (match["value"] or "").strip().strip('"')
            values[name] = (*values.get(name, ()), value)
        return cls(values)

    @classmethod
    def parse_targeted(cls, text: str) -> Self | None:
        """Parse CDN-Cache-Control; None when it is empty or malformed, and so to be ignored."""
        values: dict[str, tuple[str, ...]] = {}
        for part in text.split(",") if text.strip() else ():
            match = _MEMBER.fullmatch(part.strip())
            if match is None or (match["name"] in _COUNTED and not (match["value"] or "").lstrip("-").isdigit()):
                return None
            if match["value"] != "?0":
                values[match["name"]] = (match["value"] or "",)
        return cls(values) if values else None

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def seconds(self, name: str) -> int | None:
        """Return the smallest value of a directive; 0 when it is not a number of seconds, None when the directive is missing."""
        texts = self.values.get(name)
        return None if texts is None else min(parse_seconds(text) or 0 for text in texts)


def parse_seconds(text: str) -> int | None:
    """Return a count of seconds, limited to what every cache understands; None for any other text."""
    return min(MAX_SECONDS, int(text)) if _SECONDS.fullmatch(text) else None
