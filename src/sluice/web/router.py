"""The route table: the path selects a resource, and the method selects its route."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from sluice.core.errors import Invalid
from sluice.web.messages import Reply, Request

Handler = Callable[[Request], Awaitable[Reply]]
# One entry per path segment; None stands for a parameter.
Shape = tuple[str | None, ...]

_METHOD = re.compile(r"[A-Z]+")
_PATTERN = re.compile(r"/|(/(:[A-Za-z_][A-Za-z0-9_]*|[A-Za-z0-9._~-]+))+")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Route:
    """One row of the table: `Route("GET", "/queue/results/:id", handler)`; values arrive in `request.params`."""

    method: str
    pattern: str
    handler: Handler

    def __post_init__(self) -> None:
        if not _METHOD.fullmatch(self.method):
            raise ValueError(f"not a method in capitals: {self.method!r}")
        if not _PATTERN.fullmatch(self.pattern):
            raise ValueError(f"not a path pattern: {self.pattern!r}")
        names = [segment for segment in _split(self.pattern) if segment.startswith(":")]
        if len(names) != len(set(names)):
            raise ValueError(f"a parameter appears twice: {self.pattern!r}")

    @property
    def shape(self) -> Shape:
        """The pattern without the names of its parameters."""
        return get_shape(self.pattern)

    def params(self, segments: Sequence[str]) -> dict[str, str]:
        """Return the values of the parameters in a path of this shape."""
        pairs = zip(_split(self.pattern), segments, strict=True)
        return {name[1:]: value for name, value in pairs if name.startswith(":")}


@dataclass(frozen=True, slots=True)
class Resource:
    """All routes of one shape, by method."""

    shape: Shape
    routes: Mapping[str, Route]

    @property
    def allowed_methods(self) -> tuple[str, ...]:
        """All methods of the resource, sorted, with the implied HEAD and OPTIONS."""
        implied = {"HEAD", "OPTIONS"} if "GET" in self.routes else {"OPTIONS"}
        return tuple(sorted(implied | self.routes.keys()))

    def route_for(self, method: str) -> Route | None:
        """Return the route for a method; GET serves HEAD unless HEAD has its own route."""
        return self.routes.get(method) or (self.routes.get("GET") if method == "HEAD" else None)

    def matches(self, segments: Sequence[str]) -> bool:
        """Whether a path of the same length matches; a parameter is never empty."""
        pairs = zip(self.shape, segments, strict=True)
        return all(actual if expected is None else actual == expected for expected, actual in pairs)


class Router:
    """Finds the resource of a path; if several match, an exact segment beats a parameter, from left to right."""

    def __init__(self, routes: Iterable[Route]) -> None:
        table: dict[Shape, dict[str, Route]] = {}
        for route in routes:
            methods = table.setdefault(route.shape, {})
            if route.method in methods:
                raise ValueError(f"two routes for {route.method} {route.pattern}")
            methods[route.method] = route
        self._by_length: dict[int, list[Resource]] = {}
        for shape in sorted(table, key=_exact_first):
            self._by_length.setdefault(len(shape), []).append(Resource(shape, table[shape]))

    def resolve(self, segments: Sequence[str]) -> Resource | None:
        """Return the most specific resource for decoded segments, or None."""
        candidates = self._by_length.get(len(segments), [])
        return next((resource for resource in candidates if resource.matches(segments)), None)


def get_shape(pattern: str) -> Shape:
    """Return the pattern without the names of its parameters."""
    return tuple(None if segment.startswith(":") else segment for segment in _split(pattern))


def split_path(path: str) -> tuple[str, ...]:
    """Return the decoded segments of a raw path; an encoded slash stays inside its segment."""
    return tuple(_decode_segment(segment) for segment in _split(path))


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
