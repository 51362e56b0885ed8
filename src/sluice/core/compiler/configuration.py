"""The configuration of a list, in the format of HostlistCompiler; errors name every bad field."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from sluice.core.compiler.sources.locations import find_host, remove_secrets
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
MAX_DOMAIN_CHARS: Final = 1_024
MAX_TRANSFORMATIONS: Final = 100  # names may repeat, so the number of transformations is no limit
MAX_READING: Final = 1_000_000  # of all patterns in a configuration: about a second
_PATTERN_LISTS: Final = ("exclusions", "inclusions", "domainExclusions", "domainInclusions", "neverBlock")
_MAX_QUOTED_CHARS: Final = 40
_EXTENSIONS: Final = {
    "domainExclusions": [],
    "domainExclusionsSources": [],
    "domainInclusions": [],
    "domainInclusionsSources": [],
    "protect": False,
    "neverBlock": None,
}


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
    """Raise ValueError for a malformed regular expression, which is the only pattern that can be wrong."""
    try:
        patterns.Patterns.parse([pattern])
    except Invalid as error:
        raise PydanticCustomError("pattern", "{reason}", {"reason": f"is not valid: {error}"}) from None
    return pattern


def _check_domain(domain: str) -> str:
    from sluice.core.filters.patterns.domain_patterns import DomainPattern  # noqa: PLC0415 - few configurations have one

    try:
        DomainPattern.parse(domain)
    except Invalid as error:
        raise PydanticCustomError("domain", "{reason}", {"reason": f"is not valid: {error}"}) from None
    return domain


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]
Location = Annotated[str, Field(min_length=1, max_length=MAX_LOCATION_CHARS)]
Pattern = Annotated[str, Field(max_length=MAX_PATTERN_CHARS), AfterValidator(_check_pattern)]
Patterns = Annotated[list[Pattern], Field(max_length=MAX_PATTERNS)]
Domain = Annotated[str, Field(max_length=MAX_DOMAIN_CHARS), AfterValidator(_check_domain)]
Domains = Annotated[list[Domain], Field(max_length=MAX_PATTERNS)]
PatternFiles = Annotated[list[Location], Field(max_length=MAX_PATTERN_FILES)]
Transformations = Annotated[
    list[Annotated[str, AfterValidator(_check_name), Field(json_schema_extra={"enum": list(TRANSFORMATIONS)})]],
    Field(max_length=MAX_TRANSFORMATIONS),
    AfterValidator(_check_combination),
]


class Filters(BaseModel):
    """The filters and transformations of one source, or of the whole list."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, serialize_by_alias=True)

    transformations: Transformations = []
    exclusions: Patterns = []
    exclusions_sources: PatternFiles = []
    inclusions: Patterns = []
    inclusions_sources: PatternFiles = []
    # Extensions of HostlistCompiler's format: `example.org` is that name alone, `*.example.org` the names below it.
    domain_exclusions: Domains = Field(default=[], alias="domainExclusions")
    domain_exclusions_sources: PatternFiles = Field(default=[], alias="domainExclusionsSources")
    domain_inclusions: Domains = Field(default=[], alias="domainInclusions")
    domain_inclusions_sources: PatternFiles = Field(default=[], alias="domainInclusionsSources")

    @property
    def pattern_files(self) -> tuple[str, ...]:
        """The files of exclusions and inclusions."""
        domains = (*self.domain_exclusions_sources, *self.domain_inclusions_sources)
        return (*self.exclusions_sources, *self.inclusions_sources, *domains)


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
    protect: bool = False  # whether an exception is added for each excluded domain that a wider rule still blocks
    never_block: Domains | None = Field(default=None, alias="neverBlock")  # if given, also the hosts of the sources

    @model_validator(mode="before")
    @classmethod
    def _check_patterns(cls, value: Any) -> Any:
        """Refuse patterns whose reading takes seconds before any of them is read."""
        parts = [value, *_list(value, "sources")]
        texts = [text for part in parts for name in _PATTERN_LISTS for text in _list(part, name)]
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
    def locations(self) -> tuple[str, ...]:
        """The locations of all sources and pattern files, as often as they are read."""
        parts: list[Filters] = [self, *self.sources]
        files = (file for part in parts for file in part.pattern_files)
        return (*(source.source for source in self.sources), *files)

    @property
    def repeated_locations(self) -> frozenset[str]:
        """The locations that are read more than once: repeated sources and shared pattern files."""
        return frozenset(location for location, count in Counter(self.locations).items() if count > 1)

    @property
    def source_hosts(self) -> tuple[str, ...]:
        """The host names that the sources are downloaded from; an IP address or a single label is none."""
        from sluice.core.filters.patterns.domain_patterns import is_domain  # noqa: PLC0415 - few lists need them

        hosts = dict.fromkeys(find_host(source.source) for source in self.sources)
        return tuple(filter(is_domain, hosts))

    @property
    def never_blocked_names(self) -> tuple[str, ...]:
        """The names of `neverBlock` with the hosts of the sources; none without that field."""
        return () if self.never_block is None else (*self.never_block, *self.source_hosts)

    @property
    def identity(self) -> dict[str, Any]:
        """The fields that tell one list from another, without unused extensions: older keys of lists stay valid."""
        fields = self.model_dump(mode="json")
        for part in (fields, *fields["sources"]):
            for name, unused in _EXTENSIONS.items():
                if name in part and part[name] == unused:
                    del part[name]
        return fields


def parse_configuration(value: object) -> Configuration:
    """Parse a configuration from JSON values; raise Invalid, which names each bad field."""
    return parse_model(Configuration, value)


def _list(value: Any, name: str) -> list[Any]:
    """Return a member that is a list; nothing if there is none, which is reported elsewhere."""
    member = value.get(name) if isinstance(value, Mapping) else None
    return member if isinstance(member, list) else []


def _select_validators(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.startswith("Validate")]
