"""What a configuration may hold, and how its mistakes are named."""

from typing import Any

import pytest

from sluice.core.compiler.configuration import (
    MAX_NAME_CHARS,
    MAX_PATTERNS,
    MAX_SOURCES,
    Configuration,
    parse_configuration,
)
from sluice.core.errors import Invalid
from sluice.core.filters.pipeline import TRANSFORMATIONS
from unit.core.compiler.scripted import configuration


def paths(value: object) -> list[str]:
    with pytest.raises(Invalid) as caught:
        parse_configuration(value)
    return [field.field for field in caught.value.fields]


def test_every_field():
    """A configuration with all that the format knows is taken as it is."""
    value = {
        "name": "List",
        "description": "About",
        "homepage": "https://h.example",
        "license": "MIT",
        "version": "1.0.0",
        "sources": [
            {
                "source": "https://h.example/a.txt",
                "name": "A",
                "type": "hosts",
                "transformations": ["Compress", "Compress"],
                "exclusions": ["a"],
                "exclusions_sources": ["ex.txt"],
                "inclusions": ["*"],
                "inclusions_sources": ["in.txt"],
            }
        ],
        "transformations": ["Validate"],
        "exclusions": ["", "/x/"],
        "exclusions_sources": ["ex.txt"],
        "inclusions": [],
        "inclusions_sources": [],
    }
    assert parse_configuration(value).model_dump(exclude_unset=True) == value


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_every_transformation(name: str):
    """Each transformation may be named for the list and for a source."""
    parse_configuration(configuration("a.txt", transformations=[name]))
    parse_configuration(configuration({"source": "a.txt", "transformations": [name]}))


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], ""),
        ("text", ""),
        ({"sources": [{"source": "a"}]}, "name"),
        (configuration("a", name=""), "name"),
        (configuration("a", name=None), "name"),
        (configuration("a", name="x" * (MAX_NAME_CHARS + 1)), "name"),
        ({"name": "x"}, "sources"),
        (configuration(), "sources"),
        (configuration(*["a"] * (MAX_SOURCES + 1)), "sources"),
        (configuration("a", version=1), "version"),
        (configuration("a", description=None), "description"),
        (configuration("a", foo=1), "foo"),
        (configuration("a", {"name": "b"}), "sources[1].source"),
        (configuration(""), "sources[0].source"),
        (configuration({"source": "a", "name": ""}), "sources[0].name"),
        (configuration({"source": "a", "name": None}), "sources[0].name"),
        (configuration({"source": "a", "type": None}), "sources[0].type"),
        (configuration({"source": "a", "type": "domains"}), "sources[0].type"),
        (configuration({"source": "a", "foo": 1}), "sources[0].foo"),
        (configuration("a", transformations="Compress"), "transformations"),
        (configuration("a", transformations=["Compress", "Nope"]), "transformations[1]"),
        (configuration("a", transformations=["compress"]), "transformations[0]"),
        (configuration("a", transformations=["Validate", "ValidateAllowIp"]), "transformations"),
        (
            configuration("a", {"source": "b", "transformations": ["Validate", "ValidateAllowIp"]}),
            "sources[1].transformations",
        ),
        (configuration("a", exclusions=["a", 1]), "exclusions[1]"),
        (configuration("a", exclusions=["(", "/(/"]), "exclusions[1]"),
        (configuration("a", exclusions=["a"] * (MAX_PATTERNS + 1)), "exclusions"),
        (configuration("a", inclusions_sources=[""]), "inclusions_sources[0]"),
    ],
)
def test_mistakes(value: Any, path: str):
    """A mistake is refused under the path where it stands."""
    assert paths(value) == [path]


def test_all_mistakes_at_once():
    """Nobody has to mend a configuration one mistake at a time."""
    value = configuration({"source": "a", "type": "x"}, {"source": 1}, transformations=["Nope"], version=1)
    assert sorted(paths(value)) == ["sources[0].type", "sources[1].source", "transformations[0]", "version"]


def test_validation_at_both_levels():
    """A source that validates in a list that validates is refused by its name: the list's rules would win."""
    named = {"source": "b", "name": "Second", "transformations": ["ValidateAllowIp"]}
    value = configuration("a", named, transformations=["Validate"])
    with pytest.raises(Invalid, match="Second") as caught:
        parse_configuration(value)
    assert [field.field for field in caught.value.fields] == ["sources[1].transformations"]


def test_repeated_locations():
    """Known are the sources and files of patterns that are read more than once."""
    shared = {"exclusions_sources": ["ex.txt"], "inclusions_sources": ["in.txt"]}
    value = configuration("a", "a", {"source": "b", **shared}, exclusions_sources=["ex.txt", "b"])
    assert parse_configuration(value).repeated_locations == {"a", "b", "ex.txt"}


def test_a_configuration_stays_as_it_is():
    """A parsed configuration cannot be changed, so what was checked is what is compiled."""
    parsed = parse_configuration(configuration("a"))
    assert isinstance(parsed, Configuration)
    with pytest.raises(ValueError, match="frozen"):
        parsed.name = "other"
