"""The figures of zones in the text format 0.0.4 that Prometheus reads; all are gauges, visits those of the last 24 hours."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from sluice.services.preload.zone.operator_calls import TrafficReply

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
MAX_ZONES: Final = 40  # each costs a call, of 50 that the free plan allows one request

_Figure = Literal["hit_ratio", "origin_requests_saved", "bytes_saved", "queue_depth", "dead_letters"]
_LayerFigure = Literal["visits", "bytes", "mean_ttfb_ms"]
_Sample = tuple[dict[str, str], float | None]


def format_figures(zones: Sequence[TrafficReply]) -> str:
    """Return the page for what `show_traffic` says of each zone."""
    lines = []
    for name, text, samples in (
        ("visits", "Visits of the last 24 hours, by what answered them.", _read_layers(zones, "visits")),
        ("bytes", "Bytes sent in the last 24 hours, by what answered.", _read_layers(zones, "bytes")),
        ("time_to_first_byte_seconds", "Mean time until a reply began, by what answered.", _read_waits(zones)),
        ("hit_ratio", "Visits that cost the origin no request, of all.", _read(zones, "hit_ratio")),
        ("origin_requests_saved", "Visits that cost the origin no request.", _read(zones, "origin_requests_saved")),
        ("bytes_saved", "Bytes that the origin did not send.", _read(zones, "bytes_saved")),
        ("pages", "Known pages, by the state of their copies.", _read_coverage(zones)),
        ("queue_depth", "Pages that wait to be warmed.", _read(zones, "queue_depth")),
        ("dead_letters", "Pages that failed for good.", _read(zones, "dead_letters")),
    ):
        lines += [f"# HELP sluice_preload_{name} {text}", f"# TYPE sluice_preload_{name} gauge"]
        lines += [_format(name, labels, value) for labels, value in samples if value is not None]
    return "".join(f"{line}\n" for line in lines)


def _read(zones: Sequence[TrafficReply], name: _Figure) -> Iterator[_Sample]:
    return (({"zone": zone["zone_id"]}, zone[name]) for zone in zones)


def _read_layers(zones: Sequence[TrafficReply], name: _LayerFigure) -> Iterator[_Sample]:
    for zone in zones:
        yield from (({"zone": zone["zone_id"], "layer": layer}, each[name]) for layer, each in zone["layers"].items())


def _read_waits(zones: Sequence[TrafficReply]) -> Iterator[_Sample]:
    for labels, mean_ms in _read_layers(zones, "mean_ttfb_ms"):
        yield labels, None if mean_ms is None else round(mean_ms / 1000, 6)


def _read_coverage(zones: Sequence[TrafficReply]) -> Iterator[_Sample]:
    for zone in zones:
        coverage = zone["coverage"]
        yield from (({"zone": zone["zone_id"], "state": state}, coverage[state]) for state in ("warm", "stale", "cold"))


def _format(name: str, labels: dict[str, str], value: float | None) -> str:
    """Return the text of a sample. A zone's id has only letters, digits, - and _, so that no label needs an escape."""
    text = ",".join(f'{label}="{each}"' for label, each in labels.items())
    return f"sluice_preload_{name}{{{text}}} {value}"
