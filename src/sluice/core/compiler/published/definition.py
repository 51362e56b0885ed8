"""What an operator says about a published list; errors name every bad field."""

import re
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError

from sluice.core.compiler.configuration import MAX_LOCATION_CHARS, MAX_TEXT_CHARS, Configuration
from sluice.core.compiler.published.schedule import DEFAULT_SCHEDULE, CronSchedule
from sluice.core.compiler.sources.locations import is_url
from sluice.core.filters.formats.table import FORMATS
from sluice.core.models import parse_model

MAX_LISTS: Final = 100
MAX_MIRRORS: Final = 10  # of one source
MAX_HOMEPAGE_CHARS: Final = 400  # so that the header's first lines fit into the part that clients read
ADBLOCK: Final = "adblock"
_PIN: Final = re.compile(r"[0-9a-fA-F]{64}")
_PIN_MARK: Final = "#sha256="


def _check_schedule(text: str) -> str:
    try:
        CronSchedule.parse(text)
    except ValueError as error:
        raise PydanticCustomError("schedule", "{reason}", {"reason": str(error)}) from None
    return text


def _check_format(name: str) -> str:
    if name not in FORMATS:
        reason = f"is not a known format: {name[:40]} (the known ones are {', '.join(FORMATS)})"
        raise PydanticCustomError("format", "{reason}", {"reason": reason})
    return name


def _check_address(text: str) -> str:
    if not is_url(text):
        raise PydanticCustomError("address", "{reason}", {"reason": "is not an http or https address"})
    return text


def _check_pin(text: str) -> str:
    if not _PIN.fullmatch(text):
        raise PydanticCustomError("pin", "{reason}", {"reason": "is not a SHA-256 of 64 hexadecimal digits"})
    return text.lower()


Address = Annotated[str, Field(min_length=1, max_length=MAX_LOCATION_CHARS), AfterValidator(_check_address)]


class Mirror(BaseModel):
    """Another address of a source; with `sha256` it is used only while its bytes have this hash."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    address: Address
    sha256: Annotated[str, AfterValidator(_check_pin)] = ""


Mirrors = Annotated[list[Address | Mirror], Field(max_length=MAX_MIRRORS)]


class ListDefinition(BaseModel):
    """One published list; `mirrors` are other addresses of its sources, by the address in the configuration."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", strict=True, frozen=True)

    configuration: Configuration
    description: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] = ""
    schedule: Annotated[str, AfterValidator(_check_schedule)] = DEFAULT_SCHEDULE
    formats: Annotated[list[Annotated[str, AfterValidator(_check_format)]], Field(max_length=len(FORMATS))] = []
    min_rules: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    max_shrink: Annotated[float, Field(ge=0, le=1)] = 0.5
    mirrors: Annotated[dict[str, Mirrors], Field(max_length=100)] = {}

    @model_validator(mode="after")
    def _check_addresses(self) -> Self:
        """Refuse sources that a Worker cannot read, mirrors of no source, and a homepage that is too long."""
        errors = [
            _describe(("configuration", "sources", at, "source"), "is not an http or https address", source.source)
            for at, source in enumerate(self.configuration.sources)
            if not is_url(source.source)
        ]
        errors += self._find_bad_mirrors()
        if len(self.configuration.homepage) > MAX_HOMEPAGE_CHARS:
            reason = f"takes at most {MAX_HOMEPAGE_CHARS} characters in a published list"
            errors.append(_describe(("configuration", "homepage"), reason, self.configuration.homepage))
        if errors:
            raise ValidationError.from_exception_data("ListDefinition", errors)
        return self

    def _find_bad_mirrors(self) -> list[InitErrorDetails]:
        sources = {source.source for source in self.configuration.sources}
        errors = [
            _describe(("mirrors", address), "is no source of this list: write it as in the configuration", address)
            for address in self.mirrors
            if address not in sources
        ]
        for address, mirrors in self.mirrors.items():
            for at, mirror in enumerate(mirrors):
                pin = mirror.partition(_PIN_MARK)[2] if isinstance(mirror, str) else ""
                if pin and not _PIN.fullmatch(pin):
                    reason = "is not pinned by a SHA-256 of 64 hexadecimal digits"
                    errors.append(_describe(("mirrors", address, at), reason, mirror))
        return errors

    @property
    def further_formats(self) -> list[str]:
        """The formats besides adblock, which is always made, each once."""
        return [name for name in dict.fromkeys(self.formats) if name != ADBLOCK]

    @property
    def cron(self) -> CronSchedule:
        return CronSchedule.parse(self.schedule)

    @property
    def text(self) -> str:
        """The description for people."""
        return self.description or self.configuration.description

    def mirrors_of(self, source: str) -> list[Mirror]:
        return [_to_mirror(mirror) for mirror in self.mirrors.get(source, [])]


def parse_definition(value: object) -> ListDefinition:
    """Parse a definition from JSON values; raise Invalid, which names each bad field."""
    return parse_model(ListDefinition, value)


def _to_mirror(mirror: str | Mirror) -> Mirror:
    if isinstance(mirror, Mirror):
        return mirror
    address, _, pin = mirror.partition(_PIN_MARK)
    return Mirror.model_validate({"address": address, "sha256": pin} if pin else {"address": address})


def _describe(place: tuple[str | int, ...], reason: str, value: Any) -> InitErrorDetails:
    return InitErrorDetails(
        type=PydanticCustomError("published", "{reason}", {"reason": reason}), loc=place, input=value
    )
