"""The route table: the path selects a resource, and the method selects its route."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from sluice.core.errors import Invalid
from sluice.web.messages import Reply, Request

Handler = Callable[[Request], Awaitable[Reply]]
# One entry per path segment; None stands for a parameter.
Shape = tuple[str | None, ...]
# By the number of segments: the shapes, most specific first, and for each method the position of its route.
Index = Mapping[int, Sequence[tuple[Shape, Mapping[str, int]]]]

_METHOD = re.compile(r"[A-Z]+")
_PATTERN = re.compile(r"/|(/(:[A-Za-z_][A-Za-z0-9_]*|[A-Za-z0-9._~-]+))+")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class Route(NamedTuple):
    """One row of the table: `Route("GET", "/queue/results/:id", handler)`; values arrive in `request.params`."""

    method: str
    pattern: str
    handler: Handler

    def params(self, segments: Sequence[str]) -> dict[str, str]:
        """Return the values of the parameters in a path of this shape."""
        pairs = zip(_split(self.pattern), segments, strict=True)
        return {name[1:]: value for name, value in pairs if name.startswith(":")}


@dataclass(frozen=True, slots=True)
class Resource:
    """All routes of one shape, by method."""

    routes: Mapping[str, Route]

    @property
    def allowed_methods(self) -> tuple[str, ...]:
        """All methods of the resource, sorted, with the implied HEAD and OPTIONS."""
        implied = {"HEAD", "OPTIONS"} if "GET" in self.routes else {"OPTIONS"}
        return tuple(sorted(implied | self.routes.keys()))

    def route_for(self, method: str) -> Route | None:
        """Return the route for a method; GET serves HEAD unless HEAD has its own route."""
        return self.routes.get(method) or (self.routes.get("GET") if method == "HEAD" else None)


class Router:
    """Finds the resource of a path; if several match, an exact segment beats a parameter, from left to right."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = tuple(routes)
        self._index = build_index(tuple((route.method, route.pattern) for route in self._routes))

    def resolve(self, segments: Sequence[str]) -> Resource | None:
        """Return the most specific resource for decoded segments, or None."""
        for shape, positions in self._index.get(len(segments), ()):
            if _matches(shape, segments):
                return Resource({method: self._routes[position] for method, position in positions.items()})
        return None


@lru_cache(maxsize=16)
def build_index(rows: tuple[tuple[str, str], ...]) -> Index:
    """Check the rows and order them; every request makes its routes anew, but always of the same rows."""
    table: dict[Shape, dict[str, int]] = {}
    for position, (method, pattern) in enumerate(rows):
        _check_row(method, pattern)
        methods = table.setdefault(get_shape(pattern), {})
        if method in methods:
            raise ValueError(f"two routes for {method} {pattern}")
        methods[method] = position
    index: dict[int, list[tuple[Shape, dict[str, int]]]] = {}
    for shape in sorted(table, key=_exact_first):
        index.setdefault(len(shape), []).append((shape, table[shape]))
    return index


def get_shape(pattern: str) -> Shape:
    """Return the pattern without the names of its parameters."""
    return tuple(None if segment.startswith(":") else segment for segment in _split(pattern))


def split_path(path: str) -> tuple[str, ...]:
    """Return the decoded segments of a raw path; an encoded slash stays inside its segment."""
    return tuple(_decode_segment(segment) for segment in _split(path))


def _check_row(method: str, pattern: str) -> None:
    if not _METHOD.fullmatch(method):
        raise ValueError(f"not a method in capitals: {method!r}")
    if not _PATTERN.fullmatch(pattern):
        raise ValueError(f"not a path pattern: {pattern!r}")
    names = [segment for segment in _split(pattern) if segment.startswith(":")]
    if len(names) != len(set(names)):
        raise ValueError(f"a parameter appears twice: {pattern!r}")


def _matches(shape: Shape, segments: Sequence[str]) -> bool:
    """Return whether a path of the same length matches; a parameter is never empty."""
    pairs = zip(shape, segments, strict=True)
    return all(actual if expected is None else actual == expected for expected, actual in pairs)


def _split(path: str) -> list[str]:
    return path[1:].split("/") if path != "/" else []


def _decode_segment(segment: str) -> str:
    if _STRAY_PERCENT.search(segment):
        raise Invalid("the path contains a % that does not start an encoded character: write it as %25")
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeError:
        raise Invalid("the path is not percent-encoded UTF-8") from None


def _exact_first(shape: Shape) -> list[bool]:
    return [segment is None for segment in shape]
