"""Which configurations are valid, and how errors name the bad fields."""

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
from sluice.core.filters.patterns import patterns as patterns_module
from sluice.core.filters.pipeline import TRANSFORMATIONS
from unit.core.compiler.scripted import configuration


def bad_fields(value: object) -> list[str]:
    with pytest.raises(Invalid) as caught:
        parse_configuration(value)
    return [field.field for field in caught.value.fields]


def test_every_field():
    """A configuration with all fields of the format is accepted unchanged."""
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
    assert parse_configuration(configuration("a.txt", transformations=[name])).transformations == [name]
    of_source = parse_configuration(configuration({"source": "a.txt", "transformations": [name]}))
    assert (of_source.sources[0].transformations, of_source.transformations) == ([name], [])


@pytest.mark.parametrize(
    ("value", "field"),
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
def test_mistakes(value: Any, field: str):
    """The error names the field of the mistake."""
    assert bad_fields(value) == [field]


def test_all_mistakes_at_once():
    """One error names all mistakes of a configuration."""
    value = configuration({"source": "a", "type": "x"}, {"source": 1}, transformations=["Nope"], version=1)
    assert sorted(bad_fields(value)) == ["sources[0].type", "sources[1].source", "transformations[0]", "version"]


def test_validators_of_source_and_list():
    """A validator of a source conflicts with one of the list, which would override it; the error names the source."""
    named = {"source": "b", "name": "Second", "transformations": ["ValidateAllowIp"]}
    value = configuration("a", named, transformations=["Validate"])
    with pytest.raises(Invalid, match="Second") as caught:
        parse_configuration(value)
    assert [field.field for field in caught.value.fields] == ["sources[1].transformations"]


def test_repeated_locations():
    """The repeated locations are the sources and pattern files that are read more than once."""
    shared = {"exclusions_sources": ["ex.txt"], "inclusions_sources": ["in.txt"]}
    value = configuration("a", "a", {"source": "b", **shared}, exclusions_sources=["ex.txt", "b"])
    assert parse_configuration(value).repeated_locations == {"a", "b", "ex.txt"}


def test_a_configuration_is_frozen():
    """A parsed configuration cannot be changed, so the compiled configuration is the checked one."""
    parsed = parse_configuration(configuration("a"))
    assert isinstance(parsed, Configuration)
    with pytest.raises(ValueError, match="frozen"):
        parsed.name = "other"


@pytest.mark.parametrize("of_list", [True, False], ids=["list", "source"])
def test_patterns_that_take_long_are_not_read(monkeypatch, of_list: bool):
    """A body of a few megabytes of regular expressions would occupy a processor for minutes: it is refused unread."""
    read: list[str] = []
    monkeypatch.setattr(patterns_module, "_compile_regex", read.append)
    patterns = [f"/{'[a-z]' * 40}{number}/" for number in range(200)]
    value = (
        configuration("a", exclusions=patterns) if of_list else configuration({"source": "a", "inclusions": patterns})
    )
    with pytest.raises(Invalid, match="too long together: the limit is 25,000 characters"):
        parse_configuration(value)
    assert read == []


def test_many_plain_patterns_are_read():
    """Thousands of names are fine, and so are a hundred regular expressions."""
    names = [f"ads{number}.example.com" for number in range(10_000)]
    regexes = [f"/^ads{number}[.]/" for number in range(100)]
    parsed = parse_configuration(configuration("a", exclusions=names, inclusions=regexes))
    assert (parsed.exclusions, parsed.inclusions) == (names, regexes)
