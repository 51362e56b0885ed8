"""The default lists to warm and sources to check, and the variables that replace them."""

import json

import pytest

from sluice.core.errors import ConfigError
from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations


def test_default_lists():
    """The three popular lists, trimmed, without empty lines and duplicates."""
    lists = warm_configurations()
    assert [(item.name, item.sources[0].source) for item in lists] == [
        ("EasyList", "https://easylist.to/easylist/easylist.txt"),
        ("EasyPrivacy", "https://easylist.to/easylist/easyprivacy.txt"),
        ("AdGuard Base", "https://filters.adtidy.org/extension/chromium/filters/2.txt"),
    ]
    assert {tuple(item.transformations) for item in lists} == {("Deduplicate", "RemoveEmptyLines", "TrimLines")}


def test_default_sources():
    """The five sources with their expected rules."""
    assert [(source.name, source.expectedMinRules) for source in health_sources()] == [
        ("EasyList", 50_000),
        ("EasyPrivacy", 10_000),
        ("AdGuard Base", 30_000),
        ("AdGuard Tracking", 10_000),
        ("Peter Lowe's List", 2_000),
    ]


def test_variables_win():
    """A variable replaces the defaults."""
    mine = [{"name": "Mine", "sources": [{"source": "https://x.example/l"}]}]
    assert [item.name for item in warm_configurations(json.dumps(mine))] == ["Mine"]
    watched = [{"name": "Mine", "url": "https://x.example/l"}]
    [source] = health_sources(json.dumps(watched))
    assert (source.name, source.expectedMinRules) == ("Mine", 100)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "WARM_CONFIGURATIONS: it is not JSON"),
        ("[" * 100_000, "WARM_CONFIGURATIONS: it is nested more than 64 levels deep"),
        ("[]", "WARM_CONFIGURATIONS: needs at least 1"),
        ('[{"name":"x"}]', r"WARM_CONFIGURATIONS: \[0\]\.sources is required"),
        ('{"name":"x"}', "WARM_CONFIGURATIONS: "),
    ],
)
def test_bad_lists(text: str, reason: str):
    """A mistake is reported with the variable and the field."""
    with pytest.raises(ConfigError, match=f"^{reason}"):
        warm_configurations(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"name":"x","url":"ftp://x"}]', r"HEALTH_SOURCES: \[0\]\.url"),
        ('[{"name":"x","url":"http://x","expectedMinRules":-1}]', r"HEALTH_SOURCES: \[0\]\.expectedMinRules"),
        ('[{"name":"x","url":"http://x"},{"name":"x","url":"http://y"}]', "HEALTH_SOURCES: two sources have the name"),
    ],
)
def test_bad_sources(text: str, reason: str):
    """The same for the sources."""
    with pytest.raises(ConfigError, match=f"^{reason}"):
        health_sources(text)
