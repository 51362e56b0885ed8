"""The configuration of a list: HostlistCompiler's own format, every mistake in it named by its path."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from sluice.core.errors import Invalid
from sluice.core.filters.patterns import patterns
from sluice.core.filters.pipeline import TRANSFORMATIONS, check_names
from sluice.core.models import parse_model

MAX_SOURCES: Final = 100
MAX_PATTERNS: Final = 10_000  # in one array
MAX_PATTERN_FILES: Final = 100  # in one array
MAX_NAME_CHARS: Final = 256
MAX_TEXT_CHARS: Final = 4_096  # of a description or the like
MAX_LOCATION_CHARS: Final = 4_096
MAX_PATTERN_CHARS: Final = 10_000
MAX_TRANSFORMATIONS: Final = 100  # repeats are allowed, so the number of names is no bound
_SHOWN_CHARS: Final = 40


def _known(name: str) -> str:
    if name not in TRANSFORMATIONS:
        raise ValueError(f"is not a known transformation: {name[:_SHOWN_CHARS]}")
    return name


def _compatible(names: list[str]) -> list[str]:
    try:
        check_names(names)
    except Invalid as error:
        raise PydanticCustomError("transformations", "{reason}", {"reason": f"do not fit: {error}"}) from None
    return names


def _readable(pattern: str) -> str:
    """Only a regular expression can be wrong; Patterns knows which texts are one."""
    try:
        patterns.Patterns.parse([pattern])
    except Invalid as error:
        raise PydanticCustomError("pattern", "{reason}", {"reason": f"cannot be read: {error}"}) from None
    return pattern


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
Location = Annotated[str, Field(min_length=1, max_length=MAX_LOCATION_CHARS)]
Pattern = Annotated[str, Field(max_length=MAX_PATTERN_CHARS), AfterValidator(_readable)]
Patterns = Annotated[list[Pattern], Field(max_length=MAX_PATTERNS)]
PatternFiles = Annotated[list[Location], Field(max_length=MAX_PATTERN_FILES)]
Transformations = Annotated[
    list[Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": list(TRANSFORMATIONS)})]],
    Field(max_length=MAX_TRANSFORMATIONS),
    AfterValidator(_compatible),
]


class Filters(BaseModel):
    """Which lines stay and what becomes of them: for one source, or for the list."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    transformations: Transformations = []
    exclusions: Patterns = []
    exclusions_sources: PatternFiles = []
    inclusions: Patterns = []
    inclusions_sources: PatternFiles = []


class Source(Filters):
    """One source: a URL, a file, or the key of content that was sent along."""

    source: Location
    name: Name = ""
    type: Literal["adblock", "hosts"] = "adblock"  # what it is said to hold; every line is read for what it is

    @property
    def label(self) -> str:
        """What a person calls it."""
        return self.name or self.source


class Configuration(Filters):
    """One list: what it is called, what it is made from, and what is done with it."""

    name: Name
    description: Text = ""
    homepage: Text = ""
    license: Text = ""
    version: Text = ""
    sources: Annotated[list[Source], Field(min_length=1, max_length=MAX_SOURCES)]

    @model_validator(mode="after")
    def _one_validation(self) -> Self:
        """A list that validates would undo what a source's own validation let through."""
        ours = _validators(self.transformations)
        clashes = [at for at, source in enumerate(self.sources) if ours and _validators(source.transformations)]
        if clashes:
            raise ValidationError.from_exception_data("Configuration", [self._clash(at, ours[0]) for at in clashes])
        return self

    def _clash(self, at: int, ours: str) -> InitErrorDetails:
        source = self.sources[at]
        theirs = _validators(source.transformations)[0]
        reason = f"hold {theirs} of source {source.label[:_SHOWN_CHARS]}, which {ours} of the whole list would override"
        misfit = PydanticCustomError("misfit", "{reason}", {"reason": reason})
        return InitErrorDetails(type=misfit, loc=("sources", at, "transformations"), input=source.transformations)

    @property
    def repeated_locations(self) -> frozenset[str]:
        """What is read more than once: sources listed again, and all files of patterns that several share."""
        parts: list[Filters] = [self, *self.sources]
        read = Counter(source.source for source in self.sources)
        read.update(file for part in parts for file in (*part.exclusions_sources, *part.inclusions_sources))
        return frozenset(location for location, times in read.items() if times > 1)


def parse_configuration(value: object) -> Configuration:
    """The configuration in a decoded JSON value; Invalid names each field that does not fit."""
    return parse_model(Configuration, value)


def _validators(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith("Validate")]
