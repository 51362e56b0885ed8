"""The lists to warm and the sources to check by default; an operator can set others in a variable."""

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import ConfigError, Invalid, SluiceError
from sluice.core.json_text import parse_json
from sluice.core.models import parse_model
from sluice.services.compiler.health.source_check import HealthSource, check_distinct
from sluice.services.compiler.published.declared import read_declared_lists
from sluice.web import Check

MAX_LISTS: Final = 50
_EASYLIST: Final = "https://easylist.to/easylist"
_ADGUARD: Final = "https://filters.adtidy.org/extension/chromium/filters"
_TRANSFORMATIONS: Final = ["Deduplicate", "RemoveEmptyLines", "TrimLines"]
_LISTS: Final = (
    ("EasyList", f"{_EASYLIST}/easylist.txt", 50_000),
    ("EasyPrivacy", f"{_EASYLIST}/easyprivacy.txt", 10_000),
    ("AdGuard Base", f"{_ADGUARD}/2.txt", 30_000),
    ("AdGuard Tracking", f"{_ADGUARD}/3.txt", 10_000),
    (
        "Peter Lowe's List",
        "https://pgl.yoyo.org/adservers/serverlist.php?hostformat=adblockplus&showintro=1&mimetype=plaintext",
        2_000,
    ),
)
_WARMED: Final = 3

Model = TypeVar("Model", bound=BaseModel)


class _Strict(RootModel[Any]):
    model_config = ConfigDict(strict=True)


class _Configurations(_Strict):
    root: Annotated[list[Configuration], Field(min_length=1, max_length=MAX_LISTS)]


class _Sources(_Strict):
    root: Annotated[list[HealthSource], Field(min_length=1, max_length=MAX_LISTS)]


def warm_configurations(variable: str = "") -> tuple[Configuration, ...]:
    """Return the lists of WARM_CONFIGURATIONS, a JSON array of configurations; popular lists if it is not set."""
    if not variable:
        return tuple(_popular(name, url) for name, url, _ in _LISTS[:_WARMED])
    return tuple(_parse_variable("WARM_CONFIGURATIONS", variable, _Configurations).root)


def health_sources(variable: str = "") -> tuple[HealthSource, ...]:
    """Return the sources of HEALTH_SOURCES, a JSON array of {name, url, expectedMinRules?}, or those of popular lists."""
    if not variable:
        return tuple(HealthSource(name=name, url=url, expectedMinRules=min_rules) for name, url, min_rules in _LISTS)
    sources = _parse_variable("HEALTH_SOURCES", variable, _Sources).root
    try:
        check_distinct(sources)
    except ValueError as error:
        raise ConfigError(f"HEALTH_SOURCES: {error}") from None
    return tuple(sources)


def _popular(name: str, url: str) -> Configuration:
    return Configuration.model_validate(
        {"name": name, "sources": [{"source": url, "name": name}], "transformations": list(_TRANSFORMATIONS)}
    )


def _parse_variable(name: str, text: str, model: type[Model]) -> Model:
    try:
        return parse_model(model, parse_json(text.encode()))
    except Invalid as error:
        raise ConfigError(f"{name}: {str(error).replace('the body', 'it')}") from None


def check_variables(warm_lists: str, sources: str, published_lists: str = "") -> dict[str, Check]:
    """Return whether the variables that hold JSON can be read; those that are not set are left out."""
    readers: dict[str, tuple[str, Callable[[str], object]]] = {
        "HEALTH_SOURCES": (sources, health_sources),
        "PUBLISHED_LISTS": (published_lists, read_declared_lists),
        "WARM_CONFIGURATIONS": (warm_lists, warm_configurations),
    }
    return {name: _check_variable(text, read) for name, (text, read) in readers.items() if text}


def _check_variable(text: str, read: Callable[[str], object]) -> Check:
    try:
        read(text)
    except SluiceError as error:
        return Check("variable", ok=False, error=str(error))
    return Check("variable", ok=True)
