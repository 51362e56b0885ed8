"""The configuration of a list, in the format of HostlistCompiler; errors name every bad field."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from sluice.core.compiler.sources.locations import remove_secrets
from sluice.core.errors import Invalid
from sluice.core.filters.patterns import patterns
from sluice.core.filters.patterns.work import WorkBudget
from sluice.core.filters.pipeline import TRANSFORMATIONS, check_names
from sluice.core.models import parse_model

MAX_SOURCES: Final = 100
MAX_PATTERNS: Final = 10_000  # in one array
MAX_PATTERN_FILES: Final = 100  # in one array
MAX_NAME_CHARS: Final = 256
MAX_TEXT_CHARS: Final = 4_096  # of a description or the like
MAX_LOCATION_CHARS: Final = 4_096
MAX_PATTERN_CHARS: Final = 10_000
MAX_TRANSFORMATIONS: Final = 100  # names may repeat, so the number of transformations is no limit
MAX_READING: Final = 1_000_000  # of all patterns in a configuration: about a second
_MAX_QUOTED_CHARS: Final = 40


def _check_name(name: str) -> str:
    if name not in TRANSFORMATIONS:
        known = ", ".join(TRANSFORMATIONS)
        raise ValueError(f"is not a known transformation: {name[:_MAX_QUOTED_CHARS]} (the known ones are {known})")
    return name


def _check_combination(names: list[str]) -> list[str]:
    try:
        check_names(names)
    except Invalid as error:
        raise PydanticCustomError("transformations", "{reason}", {"reason": f"are not valid: {error}"}) from None
    return names


def _check_pattern(pattern: str) -> str:
    """Only a regular expression can be wrong; Patterns decides which texts are regular expressions."""
    try:
        patterns.Patterns.parse([pattern])
    except Invalid as error:
        raise PydanticCustomError("pattern", "{reason}", {"reason": f"is not valid: {error}"}) from None
    return pattern


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
Location = Annotated[str, Field(min_length=1, max_length=MAX_LOCATION_CHARS)]
Pattern = Annotated[str, Field(max_length=MAX_PATTERN_CHARS), AfterValidator(_check_pattern)]
Patterns = Annotated[list[Pattern], Field(max_length=MAX_PATTERNS)]
PatternFiles = Annotated[list[Location], Field(max_length=MAX_PATTERN_FILES)]
Transformations = Annotated[
    list[Annotated[str, AfterValidator(_check_name), Field(json_schema_extra={"enum": list(TRANSFORMATIONS)})]],
    Field(max_length=MAX_TRANSFORMATIONS),
    AfterValidator(_check_combination),
]


class Filters(BaseModel):
    """The filters and transformations of one source, or of the whole list."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    transformations: Transformations = []
    exclusions: Patterns = []
    exclusions_sources: PatternFiles = []
    inclusions: Patterns = []
    inclusions_sources: PatternFiles = []


class Source(Filters):
    """One source: a URL, a file, or the key of content in the request."""

    source: Location
    name: Name = ""
    type: Literal["adblock", "hosts"] = "adblock"  # informative: every line is recognised by its own syntax

    @property
    def label(self) -> str:
        """The name for people: the source's own, or its address without query."""
        return self.name or remove_secrets(self.source)


class Configuration(Filters):
    """One list: its header fields, its sources, and its own filters and transformations."""

    name: Name
    description: Text = ""
    homepage: Text = ""
    license: Text = ""
    version: Text = ""
    sources: Annotated[list[Source], Field(min_length=1, max_length=MAX_SOURCES)]

    @model_validator(mode="before")
    @classmethod
    def _check_patterns(cls, value: Any) -> Any:
        """Refuse patterns whose reading takes seconds before any of them is read."""
        parts = [value, *_list(value, "sources")]
        texts = [text for part in parts for name in ("exclusions", "inclusions") for text in _list(part, name)]
        try:
            WorkBudget(reading_limit=MAX_READING).take_reading(text for text in texts if isinstance(text, str))
        except Invalid as error:
            raise PydanticCustomError("patterns", "{reason}", {"reason": str(error)}) from None
        return value

    @model_validator(mode="after")
    def _check_validators(self) -> Self:
        """Refuse a validator of the list together with one of a source, whose result it would override."""
        validators = _select_validators(self.transformations)
        indexes = [
            at for at, source in enumerate(self.sources) if validators and _select_validators(source.transformations)
        ]
        if indexes:
            conflicts = [self._describe_conflict(at, validators[0]) for at in indexes]
            raise ValidationError.from_exception_data("Configuration", conflicts)
        return self

    def _describe_conflict(self, at: int, list_validator: str) -> InitErrorDetails:
        source = self.sources[at]
        own = _select_validators(source.transformations)[0]
        label = source.label[:_MAX_QUOTED_CHARS]
        reason = f"contain {own} of source {label}, which {list_validator} of the whole list would override"
        conflict = PydanticCustomError("conflict", "{reason}", {"reason": reason})
        return InitErrorDetails(type=conflict, loc=("sources", at, "transformations"), input=source.transformations)

    @property
    def repeated_locations(self) -> frozenset[str]:
        """The locations that are read more than once: repeated sources and shared pattern files."""
        parts: list[Filters] = [self, *self.sources]
        reads = Counter(source.source for source in self.sources)
        reads.update(file for part in parts for file in (*part.exclusions_sources, *part.inclusions_sources))
        return frozenset(location for location, count in reads.items() if count > 1)


def parse_configuration(value: object) -> Configuration:
    """Parse a configuration from JSON values; raises Invalid, which names each bad field."""
    return parse_model(Configuration, value)


def _list(value: Any, name: str) -> list[Any]:
    """Return a member that is a list; nothing if there is none, which is reported elsewhere."""
    member = value.get(name) if isinstance(value, Mapping) else None
    return member if isinstance(member, list) else []


def _select_validators(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith("Validate")]
