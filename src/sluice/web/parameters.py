"""The parameters of a route, each declared once: the handler reads by it, and the API document shows it.

LIMIT = integer("limit", 100, minimum=1, maximum=1000, about="How many at most.")
LISTING = Query(LIMIT)

limit = LISTING.read(request)[LIMIT]
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from sluice.core.errors import BadField, Invalid
from sluice.core.field_paths import format_step
from sluice.web.messages import Request

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=str)
Parsed = TypeVar("Parsed")
Schema = Mapping[str, Any]

# Digits may be grouped by underscores, and a fraction of zeros is no fraction.
_INTEGER: Final = re.compile(r"([+-]?)(?:0[0_]*(?=[0-9]))?([0-9]+(?:_[0-9]+)*)(?:\.0+)?")
_MAX_DIGITS: Final = 4300
_TRUE: Final = frozenset({"1", "on", "t", "true", "y", "yes"})
_FALSE: Final = frozenset({"0", "off", "f", "false", "n", "no"})


class Parameter(NamedTuple, Generic[Value]):
    """A parameter of the query; `schema` is the JSON schema of what may be sent."""

    name: str
    pick: "Callable[[QueryReader], Value]"
    schema: Schema
    about: str
    example: str = ""
    is_required: bool = False


class QueryValues:
    """The values of one request, by their parameters."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, parameter: Parameter[Value]) -> Value:
        value: Value = self._values[parameter.name]
        return value


class Query:
    """All parameters that a route takes; any other is a mistake."""

    def __init__(self, *parameters: Parameter[Any]) -> None:
        self.parameters = parameters

    def read(self, request: Request) -> QueryValues:
        """Return the values; raise one Invalid for all mistakes."""
        reader = QueryReader(request)
        values = {parameter.name: parameter.pick(reader) for parameter in self.parameters}
        reader.check()
        return QueryValues(values)


class PathParameter(NamedTuple, Generic[Value]):
    """A parameter of the path; `parse` raises a SluiceError for a text that is none. `name` is that of the route's pattern."""

    name: str
    parse: Callable[[str], Value]
    schema: Schema
    about: str
    example: str = ""

    def read(self, request: Request) -> Value:
        return self.parse(request.params[self.name])


def integer(name: str, default: int, *, minimum: int, maximum: int, about: str, example: str = "") -> Parameter[int]:
    """Return a whole number within limits."""
    schema = {"type": "integer", "minimum": minimum, "maximum": maximum, "default": default}
    return Parameter(
        name, lambda query: query.integer(name, default, minimum=minimum, maximum=maximum), schema, about, example
    )


def required_integer(name: str, *, minimum: int, maximum: int, about: str, example: str = "") -> Parameter[int]:
    """Return a whole number that must be given."""
    schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return Parameter(
        name,
        lambda query: query.required_integer(name, minimum=minimum, maximum=maximum),
        schema,
        about,
        example,
        is_required=True,
    )


def text(name: str, *, max_chars: int | None = None, about: str, example: str = "") -> Parameter[str | None]:
    """Return a text; None if it is not given."""
    schema: Schema = {"type": "string", **({} if max_chars is None else {"maxLength": max_chars})}
    return Parameter(name, lambda query: query.text(name, max_chars=max_chars), schema, about, example)


def required_text(
    name: str, *, min_chars: int = 0, max_chars: int | None = None, about: str, example: str = ""
) -> Parameter[str]:
    """Return a text that must be given."""
    schema: Schema = {
        "type": "string",
        "minLength": min_chars,
        **({} if max_chars is None else {"maxLength": max_chars}),
    }
    return Parameter(
        name,
        lambda query: query.required_text(name, min_chars=min_chars, max_chars=max_chars),
        schema,
        about,
        example,
        is_required=True,
    )


def flag(name: str, *, about: str) -> Parameter[bool]:
    """Return a switch, off if it is not given."""
    return Parameter(name, lambda query: query.flag(name), {"type": "boolean", "default": False}, about)


def choice(name: str, choices: Sequence[Choice], *, about: str) -> Parameter[Choice | None]:
    """Return one of a few texts; None if it is not given."""
    schema = {"type": "string", "enum": list(choices)}
    return Parameter(name, lambda query: query.choice(name, choices), schema, about)


def choices(name: str, all_choices: Sequence[Choice], *, max_items: int, about: str) -> Parameter[tuple[Choice, ...]]:
    """Return several of a few texts, repeated or separated by commas."""
    schema = {"type": "array", "items": {"type": "string", "enum": list(all_choices)}, "maxItems": max_items}
    return Parameter(
        name,
        lambda query: query.items(name, lambda each: choose(each, all_choices), max_items=max_items),
        schema,
        about,
    )


def items(
    name: str, parse: Callable[[str], Value], *, schema: Schema, max_items: int, about: str
) -> Parameter[tuple[Value, ...]]:
    """Return several values, repeated or separated by commas; `schema` is that of one."""
    many = {"type": "array", "items": schema, "maxItems": max_items}
    return Parameter(name, lambda query: query.items(name, parse, max_items=max_items), many, about)


def parsed(
    name: str, *aliases: str, parse: Callable[[str], Value], schema: Schema, about: str, example: str = ""
) -> Parameter[Value | None]:
    """Return what `parse` makes of a text, or None if it is not given; the text of its ValueError is the reason."""
    return Parameter(name, lambda query: query.parse(name, *aliases, parse=parse), schema, about, example)


class QueryReader:
    """Reads parameters by name and collects the mistakes; `check()` raises one error for all of them.

    A parameter may have several names; the first that is given counts. The mistakes are listed in the order of reading.
    """

    def __init__(self, request: Request) -> None:
        self._query = request.query
        self._single: set[str] = set()
        self._known: set[str] = set()
        self._mistakes: list[BadField] = []

    def text(self, *names: str, min_chars: int = 0, max_chars: int | None = None) -> str | None:
        """Return a text, or None if it is not given."""
        return self.parse(*names, parse=lambda value: check_length(value, min_chars=min_chars, max_chars=max_chars))

    def required_text(self, *names: str, min_chars: int = 0, max_chars: int | None = None) -> str:
        """Return a text; it is a mistake to leave it out."""
        value = self.text(*names, min_chars=min_chars, max_chars=max_chars)
        if value is None and not any(name in self._query for name in names):
            self._mistakes.append(BadField(names[0], "is required"))
        return value or ""

    def integer(self, name: str, default: int, *, minimum: int, maximum: int) -> int:
        """Return a whole number within the limits."""
        value = self.parse(name, parse=lambda text: _parse_integer(text, minimum, maximum))
        return default if value is None else value

    def required_integer(self, name: str, *, minimum: int, maximum: int) -> int:
        """Return a whole number within the limits; it is a mistake to leave it out."""
        value = self.parse(name, parse=lambda text: _parse_integer(text, minimum, maximum))
        if value is None and name not in self._query:
            self._mistakes.append(BadField(name, "is required"))
        return value or 0

    def flag(self, name: str) -> bool:
        """Return whether a switch is on; it is off if it is not given."""
        return self.parse(name, parse=_parse_flag) or False

    def choice(self, name: str, choices: Sequence[Choice]) -> Choice | None:
        """Return one of the choices, or None if none is given."""
        return self.parse(name, parse=lambda value: choose(value, choices))

    def items(self, name: str, parse: Callable[[str], Parsed], *, max_items: int) -> tuple[Parsed, ...]:
        """Return the items of a list, which may be repeated, separated by commas, or both."""
        self._known.add(name)
        values = self._query.get(name, ())
        texts = [part.strip() for value in values for part in value.split(",") if part.strip()]
        # A place is named only if the parameter is repeated so often.
        places = [f"{name}[{at}]" if at < len(values) else name for at in range(len(texts))]
        earlier = len(self._mistakes)
        parsed = [self._try(place, text, parse) for place, text in zip(places, texts, strict=True)]
        items = tuple(item for item in parsed if item is not None)
        if len(items) > max_items:
            self._mistakes[earlier:] = [BadField(name, f"takes at most {max_items}")]
        return items

    def parse(self, *names: str, parse: Callable[[str], Parsed]) -> Parsed | None:
        """Return what `parse` makes of the text, or None if it is not given; the text of its ValueError is the reason."""
        given = next((name for name in names if name in self._query), None)
        self._single.update(names)
        if given is None:
            return None
        self._known.add(given)
        return self._try(given, self._query[given][0], parse)

    def check(self) -> None:
        """Raise Invalid if anything read so far is wrong, or if there are parameters that were not read."""
        repeated = [name for name, values in self._query.items() if name in self._single and len(values) > 1]
        if repeated:
            raise Invalid.from_fields([BadField(name, "is given more than once") for name in repeated])
        unknown = [
            BadField(format_step(name, first=True), "is not a known field")
            for name in self._query
            if name not in self._known
        ]
        if self._mistakes or unknown:
            raise Invalid.from_fields([*self._mistakes, *unknown])

    def _try(self, place: str, text: str, parse: Callable[[str], Parsed]) -> Parsed | None:
        try:
            return parse(text)
        except ValueError as error:
            self._mistakes.append(BadField(place, str(error)))
            return None


def check_length(text: str, *, min_chars: int = 0, max_chars: int | None = None) -> str:
    """Return the text; raise ValueError if it is too short or too long."""
    if len(text) < min_chars:
        raise ValueError(f"needs at least {min_chars} characters")
    if max_chars is not None and len(text) > max_chars:
        raise ValueError(f"takes at most {max_chars} characters")
    return text


def choose(text: str, choices: Sequence[Choice]) -> Choice:
    """Return the choice that the text names; raise ValueError if it names none."""
    for choice in choices:
        if choice == text:
            return choice
    *others, last = (repr(choice) for choice in choices)
    raise ValueError(f"should be {', '.join(others)} or {last}")


def _parse_integer(text: str, minimum: int, maximum: int) -> int:
    match = _INTEGER.fullmatch(text.strip())
    if not match:
        raise ValueError("should be a valid integer, unable to parse string as an integer")
    digits = match[2].replace("_", "")
    if len(digits) > _MAX_DIGITS:
        raise ValueError("Unable to parse input string as an integer, exceeded maximum size")
    number = int(match[1] + digits)
    if number < minimum:
        raise ValueError(f"should be greater than or equal to {minimum}")
    if number > maximum:
        raise ValueError(f"should be less than or equal to {maximum}")
    return number


def _parse_flag(text: str) -> bool:
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    raise ValueError("should be a valid boolean, unable to interpret input")
