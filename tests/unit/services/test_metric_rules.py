"""The rules for metrics find what `promtool check metrics` complains about."""

import pytest

from unit.services.metric_rules import find_violations

GOOD = '# HELP sluice_age_seconds Age.\n# TYPE sluice_age_seconds gauge\nsluice_age_seconds{list="a"} 0.5\n'


def describe(name: str, kind: str = "gauge") -> str:
    return f"# HELP {name} Something.\n# TYPE {name} {kind}\n{name} 1\n"


def test_a_page_that_is_right():
    """Nothing is wrong with metrics as Prometheus wants them, or with none."""
    assert find_violations(GOOD + describe("sluice_requests_total", "counter")) == []
    assert find_violations("") == []


@pytest.mark.parametrize(
    "page",
    [
        describe("sluice_preload_ttfb_ms"),
        describe("sluice_preload_wait_milliseconds"),
        describe("sluice_requests", "counter"),
        describe("sluice_requests_total"),
        describe("sluice_age_gauge"),
        describe("sluice_visits_count"),
        describe("sluice_queueDepth"),
        "sluice_age_seconds 1\n",
        "# TYPE sluice_age_seconds gauge\nsluice_age_seconds 1\n",
        "# HELP sluice_age_seconds Age.\nsluice_age_seconds 1\n",
        GOOD + GOOD,
        GOOD + 'sluice_age_seconds{list="a"} 0.7\n',
        GOOD + describe("sluice_other_seconds") + 'sluice_age_seconds{list="b"} 1\n',
        GOOD + 'sluice_age_seconds{list="a"b"} 1\n',
        GOOD.rstrip("\n"),
    ],
)
def test_a_page_that_is_wrong(page: str):
    """Units other than base units, abbreviations, ends that do not fit, missing descriptions, repeated series."""
    assert find_violations(page)
