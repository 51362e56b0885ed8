"""Draws values over time as one SVG picture: panels below each other, with spans and marks in all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10
from typing import Final

Point = tuple[float, float]

WIDTH: Final = 1100
_PANEL: Final = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 210, 46, 44
_MOST_POINTS: Final = 1000  # of one line
_LEGEND_ROWS: Final = 14
_LEGEND_WIDTH: Final = 150
_STEPS: Final = 5
_MARK: Final = "#c22"
_BANDS: Final = ("#f2c14e", "#8fc1e3", "#b9d7a8")
_COLOURS: Final = ("#1f6fb2", "#d1602b", "#2e8b57", "#8a4fbf", "#b8860b", "#c0396b", "#4d8c93", "#6b6b6b", "#7a5230")


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines by name; points with the same name and a gap between them are drawn as several lines of one colour."""

    title: str
    unit: str
    lines: Mapping[str, Sequence[Sequence[Point]]]


@dataclass(frozen=True, slots=True)
class _Scale:
    """Maps values to the place of a panel."""

    top: float
    most_x: float
    most_y: float

    def x(self, value: float) -> float:
        return _LEFT + value / self.most_x * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return self.top + (_PANEL - _TOP - _BOTTOM) * (1 - value / self.most_y)


def draw_picture(
    title: str,
    panels: Sequence[Panel],
    *,
    minutes: float,
    marks: Mapping[str, Sequence[float]] | None = None,
    spans: Mapping[str, Sequence[Point]] | None = None,
) -> str:
    """Return the picture as SVG; all times are minutes, `marks` are named moments and `spans` named stretches of time."""
    height = _TOP + _PANEL * len(panels)
    size = f'width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="system-ui, sans-serif" font-size="12" fill="#333">',
        f'<rect {size} fill="#fff"/>',
        _write_text(_LEFT, 24, title, "start", 'font-size="16" font-weight="600"'),
    ]
    marks, spans = marks or {}, spans or {}
    parts += _draw_legend([*((name, _MARK) for name in marks), *zip(spans, _BANDS, strict=False)])
    for at, panel in enumerate(panels):
        most = max((y for runs in panel.lines.values() for run in runs for _, y in run), default=0)
        step = choose_step(most)
        scale = _Scale(
            _TOP + at * _PANEL + _TOP, max(minutes, 1e-9), step * max(1, -int(-most // step)) if most else step
        )
        parts += [*_draw_axes(panel, scale, step), *_draw_spans(scale, marks, spans), *_draw_lines(panel, scale)]
    return "\n".join([*parts, "</svg>", ""])


def choose_step(most: float) -> float:
    """Return a round distance between the lines of an axis that ends at this value or above."""
    if most <= 0:
        return 1.0
    power: float = 10.0 ** floor(log10(most / _STEPS))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power * _STEPS >= most * (1 - 1e-9))


def thin(points: Sequence[Point], most: int = _MOST_POINTS) -> list[Point]:
    """Return at most so many points, of each stretch the highest, so that no peak is lost; the first and last stay."""
    if len(points) <= most:
        return list(points)
    size = -(-(len(points) - 2) // (most - 2))
    inner = points[1:-1]
    peaks = [max(inner[at : at + size], key=lambda point: point[1]) for at in range(0, len(inner), size)]
    return [points[0], *peaks, points[-1]]


def _draw_axes(panel: Panel, scale: _Scale, step: float) -> list[str]:
    right, bottom = WIDTH - _RIGHT, scale.y(0)
    parts = [_write_text(_LEFT, scale.top - 14, f"{panel.title} ({panel.unit})", "start", 'font-weight="600"')]
    for at in range(round(scale.most_y / step) + 1):
        y = scale.y(at * step)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_write_text(_LEFT - 8, y + 4, f"{at * step:g}", "end"))
    every = choose_step(scale.most_x)
    for at in range(int(scale.most_x / every + 1e-9) + 1):
        x = scale.x(at * every)
        parts.append(f'<line x1="{x:.1f}" y1="{bottom:.1f}" x2="{x:.1f}" y2="{bottom + 5:.1f}" stroke="#999"/>')
        parts.append(_write_text(x, bottom + 19, f"{at * every:g}", "middle"))
    parts.append(_write_text(right, bottom + 34, "minutes", "end"))
    return parts


def _draw_legend(entries: Sequence[tuple[str, str]]) -> list[str]:
    """Return what the colours of moments and stretches mean, in one row at the right of the title."""
    parts = []
    for at, (name, colour) in enumerate(reversed(entries)):
        x = WIDTH - 20 - (at + 1) * _LEGEND_WIDTH
        parts.append(f'<rect x="{x}" y="15" width="10" height="10" fill="{colour}"/>')
        parts.append(_write_text(x + 15, 24, name, "start"))
    return parts


def _draw_spans(scale: _Scale, marks: Mapping[str, Sequence[float]], spans: Mapping[str, Sequence[Point]]) -> list[str]:
    bottom = scale.y(0)
    parts = []
    for (name, stretches), colour in zip(spans.items(), _BANDS, strict=False):
        for began, ended in stretches:
            x, width = scale.x(began), max(1.0, scale.x(ended) - scale.x(began))
            parts.append(
                f'<rect x="{x:.1f}" y="{scale.top}" width="{width:.1f}" height="{bottom - scale.top:.1f}" fill="{colour}" '
                f'fill-opacity="0.3"><title>{escape(name)}</title></rect>'
            )
    for mark in (moment for moments in marks.values() for moment in moments):
        x = scale.x(mark)
        parts.append(
            f'<line x1="{x:.1f}" y1="{scale.top}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="{_MARK}" stroke-dasharray="3 3"/>'
        )
    return parts


def _draw_lines(panel: Panel, scale: _Scale) -> list[str]:
    parts = []
    for at, (name, runs) in enumerate(panel.lines.items()):
        colour = _COLOURS[at % len(_COLOURS)]
        for run in runs:
            points = " ".join(f"{scale.x(x):.1f},{scale.y(y):.1f}" for x, y in thin(run))
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        if at < _LEGEND_ROWS:
            x, y = WIDTH - _RIGHT + 14, scale.top + 8 + at * 16
            parts.append(f'<rect x="{x}" y="{y - 5}" width="14" height="4" fill="{colour}"/>')
            parts.append(_write_text(x + 20, y + 1, name, "start"))
    return parts


def _write_text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'
