"""Counters and gauges in the text format 0.0.4 that Prometheus reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sluice.services.compiler.metrics.gauges import Gauge
    from sluice.services.compiler.metrics.request_metrics import Counter

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_]")


@dataclass(frozen=True, slots=True)
class Metric:
    """The name, help text and label names of a counter in Prometheus."""

    name: str
    help: str
    labels: tuple[str, ...]


# Any other counter is exported under its own name, with its one label as `kind`.
METRICS: Final[Mapping[str, Metric]] = {
    "cache": Metric("sluice_cache_total", "Lists asked for, by how they were found.", ("result",)),
    "compilations": Metric("sluice_compilations_total", "Compilations, by outcome.", ("outcome",)),
    "jobs": Metric("sluice_jobs_total", "Queued jobs, by outcome.", ("outcome",)),
    "queue_messages": Metric(
        "sluice_queue_messages_total", "Queue messages, by what was done with them.", ("outcome",)
    ),
    "requests": Metric("sluice_requests_total", "HTTP requests, by endpoint and outcome.", ("endpoint", "outcome")),
    "request_duration_seconds": Metric(
        "sluice_request_duration_seconds_total", "Time spent on HTTP requests, by endpoint.", ("endpoint",)
    ),
    "workflows": Metric("sluice_workflows_total", "Workflow runs, by outcome.", ("outcome",)),
}


def format_counters(counters: Iterable[Counter]) -> str:
    """Return the page for counters, sorted by name."""
    lines = [line for name, rows in groupby(counters, lambda row: row["name"]) for line in _format_metric(name, rows)]
    return "".join(f"{line}\n" for line in lines)


def format_gauges(gauges: Iterable[Gauge]) -> str:
    """Return the page for gauges, those of one name next to each other."""
    lines = []
    for name, group in groupby(gauges, lambda gauge: gauge.name):
        same = list(group)
        lines += [f"# HELP {name} {_escape(same[0].help, quotes=False)}", f"# TYPE {name} gauge"]
        lines += [f"{name}{_format_label(gauge)} {_format_number(gauge.value)}" for gauge in same]
    return "".join(f"{line}\n" for line in lines)


def _format_label(gauge: Gauge) -> str:
    return f'{{{gauge.label[0]}="{_escape(gauge.label[1], quotes=True)}"}}' if gauge.label else ""


def _format_metric(name: str, rows: Iterable[Counter]) -> Iterator[str]:
    metric = METRICS.get(name) or Metric(
        f"sluice_{_NOT_IN_NAMES.sub('_', name)}_total", f"Counts of {name}.", ("kind",)
    )
    yield f"# HELP {metric.name} {_escape(metric.help, quotes=False)}"
    yield f"# TYPE {metric.name} counter"
    for row in rows:
        pairs = zip(metric.labels, json.loads(row["labels"]), strict=False)
        labels = ",".join(f'{label}="{_escape(value, quotes=True)}"' for label, value in pairs)
        yield f"{metric.name}{{{labels}}} {_format_number(row['value'])}"


def _escape(text: str, *, quotes: bool) -> str:
    escaped = text.replace("\\", r"\\").replace("\n", r"\n")
    return escaped.replace('"', r"\"") if quotes else escaped


def _format_number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
