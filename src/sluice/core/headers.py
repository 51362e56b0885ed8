"""Header fields: names are case-insensitive, and values cannot start another field."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, overload

from sluice.core.ports import HeaderPairs

Default = TypeVar("Default")
HeadersLike = Mapping[str, str] | Iterable[tuple[str, str]]

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# The platform sends other characters as UTF-8, which is also how it reads those of other servers.
_VALUE = re.compile(r"[^\x00\r\n]*")


class Headers(Mapping[str, str]):
    """Read-only request headers: names are case-insensitive, and repeated fields are joined as in HTTP."""

    def __init__(self, headers: HeadersLike = ()) -> None:
        self._values: dict[str, str] = {}
        for name, value in to_pairs(headers):
            key = name.lower()
            self._values[key] = _join_values(key, self._values[key], value) if key in self._values else value

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._values

    @overload
    def get(self, name: str, /) -> str | None: ...
    @overload
    def get(self, name: str, /, default: Default) -> str | Default: ...
    def get(self, name: str, /, default: object = None) -> object:
        """Return a field; this is faster than what a Mapping has, because each request asks for many."""
        return self._values.get(name.lower(), default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        # Only names: a value may be a token, and a repr may be logged.
        return f"Headers({', '.join(self._values)})"


def to_pairs(headers: HeadersLike) -> HeaderPairs:
    """Return the headers as pairs, in their order."""
    return tuple(headers.items() if isinstance(headers, Mapping) else headers)


def header_value(headers: HeaderPairs, name: str) -> str:
    """Return the values of a header, joined by commas as in HTTP; "" if it is missing."""
    return ", ".join(value for key, value in headers if key.lower() == name)


def check_header(name: str, value: str) -> None:
    """Raise ValueError for a field that could inject another one, or that the platform refuses."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"not a header name: {name!r}")
    if not _VALUE.fullmatch(value):
        raise ValueError(f"the value of header {name} contains a character that is not allowed")


def _join_values(key: str, first: str, second: str) -> str:
    return f"{first}{'; ' if key == 'cookie' else ', '}{second}"
