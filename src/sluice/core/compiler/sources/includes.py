"""`!#include`: which file a line includes, where that file is, and how deep includes may nest."""

import posixpath
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit

from sluice.core.compiler.limits import MAX_INCLUDE_DEPTH
from sluice.core.compiler.sources.line_origins import SourceFile
from sluice.core.compiler.sources.locations import format_location, is_url, remove_secrets
from sluice.core.compiler.sources.source_errors import BadSource, IncludeFailed

_INCLUDE: Final = "!#include"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class Include(NamedTuple):
    """An `!#include`: the index of its line, that line's number in the file, and the target it names."""

    at: int
    line: int
    target: str


class IncludeChain(NamedTuple):
    """How a file was reached: the source's label, the files from the source on, and the lines that included them."""

    label: str
    locations: tuple[str, ...]
    via: tuple[str, ...] = ()

    @property
    def location(self) -> str:
        return self.locations[-1]

    @property
    def source_file(self) -> SourceFile:
        return SourceFile(self.label, remove_secrets(self.location), self.via)

    def follow(self, include: Include) -> "IncludeChain":
        """Return the chain to the included file; raise IncludeFailed if its address is not valid."""
        try:
            location = resolve_include(include.target, self.location)
        except BadSource as error:
            raise IncludeFailed(self.locations, BadSource(f"line {include.line}: {error}")) from None
        return IncludeChain(
            self.label, (*self.locations, location), (*self.via, f"{remove_secrets(self.location)}:{include.line}")
        )

    def check(self) -> None:
        """Raise BadSource if the includes form a cycle or nest too deep."""
        if self.location in self.locations[:-1]:
            raise BadSource("the includes form a cycle")
        if len(self.locations) - 1 > MAX_INCLUDE_DEPTH:
            raise BadSource(f"includes are nested more than {MAX_INCLUDE_DEPTH} levels deep")


def parse_include(line: str) -> str | None:
    """Return what a line includes, as it is written there; None for any other line."""
    return line.removeprefix(_INCLUDE).strip() if line.startswith(_INCLUDE) else None


def resolve_include(target: str, includer: str) -> str:
    """Return the location of an included file; raise BadSource if a URL leads to another origin."""
    if not target:
        raise BadSource("an !#include names no file")
    if not is_url(includer):
        return target if is_url(target) else posixpath.normpath(posixpath.join(posixpath.dirname(includer), target))
    try:
        location = urljoin(includer, target)
        is_same_origin = _find_origin(urlsplit(location)) == _find_origin(urlsplit(includer))
    except ValueError:
        raise BadSource(f"the address {format_location(target)} of an !#include is malformed") from None
    if not is_same_origin:
        raise BadSource(f"it includes {format_location(location)}, which is of another origin")
    return location


def _find_origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or _DEFAULT_PORTS.get(url.scheme)
