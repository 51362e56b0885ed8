"""The picture of a soak: well-formed, every value in its panel, peaks kept."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from soak_picture import WIDTH, Panel, choose_step, draw_picture, thin
from soak_samples import Sample, format_samples, make_panels, measure_disk, parse_processes

SVG = "{http://www.w3.org/2000/svg}"


def draw(panels: list[Panel], minutes: float = 10.0, **more) -> ET.Element:
    return ET.fromstring(draw_picture("A & <title>", panels, minutes=minutes, **more))  # noqa: S314 - our own


def find_points(picture: ET.Element) -> list[list[tuple[float, float]]]:
    lines = picture.findall(f"{SVG}polyline")
    return [[tuple(map(float, point.split(","))) for point in line.attrib["points"].split()] for line in lines]  # type: ignore[misc]


def test_lines_are_in_their_panels():
    """Time goes to the right, a greater value is higher, and panels are below each other within the picture."""
    upper = Panel("Memory", "MB", {"a": [[(0, 10), (4, 40)], [(5, 0), (10, 20)]]})
    lower = Panel("Disk", "MB", {"b": [[(0, 1), (10, 2)]]})
    picture = draw([upper, lower])
    first, second, third = find_points(picture)
    assert first[0][0] < first[1][0] < second[0][0] < second[1][0]
    assert second[0][1] > first[0][1] > second[1][1] > first[1][1]
    assert max(y for _, y in first + second) < min(y for _, y in third)
    height = float(picture.attrib["height"])
    assert all(0 <= x <= WIDTH and 0 <= y <= height for line in (first, second, third) for x, y in line)


def test_texts_are_escaped_and_named():
    """Titles, units and names are in the picture as texts, whatever they have."""
    picture = draw([Panel("Disk", "MB", {"a<b>&c": [[(0, 1), (10, 2)]]})], spans={"site & more": [(1, 2)]})
    texts = [each.text for each in picture.iter(f"{SVG}text")]
    assert {"A & <title>", "Disk (MB)", "a<b>&c", "minutes", "site & more"} <= set(texts)
    assert [each.text for each in picture.iter(f"{SVG}title")] == ["site & more"]


def test_marks_and_spans_are_in_every_panel():
    """A kill is a dashed line, a fault a band that is never too thin to see."""
    panels = [Panel(name, "MB", {"a": [[(0, 1), (10, 2)]]}) for name in ("A", "B")]
    picture = draw(panels, marks={"kill": [1.0, 5.0]}, spans={"x": [(2, 2)]})
    assert len([each for each in picture.iter(f"{SVG}line") if "stroke-dasharray" in each.attrib]) == 4
    bands = [each for each in picture.iter(f"{SVG}rect") if "fill-opacity" in each.attrib]
    assert [float(each.attrib["width"]) for each in bands] == [1.0, 1.0]


@pytest.mark.parametrize("lines", [{}, {"a": []}, {"a": [[]]}, {"a": [[(0, 0)]]}])
def test_nothing_to_draw(lines: dict[str, list[list[tuple[float, float]]]]):
    """A run that ended at once has a picture too."""
    assert draw([Panel("Memory", "MB", lines)], minutes=0.0).tag == f"{SVG}svg"


@pytest.mark.parametrize(
    ("most", "step"), [(0, 1), (1, 0.2), (5, 1), (9.3, 2), (11, 5), (47, 10), (1256, 500), (0.004, 0.001)]
)
def test_steps_are_round(most: float, step: float):
    """An axis has at most five steps, each 1, 2 or 5 of its power of ten."""
    assert choose_step(most) == pytest.approx(step)


def test_thin_keeps_peaks():
    """A long line gets shorter: its ends, its order and its highest point stay."""
    points = [(float(at), 1000.0 if at == 4321 else float(at % 7)) for at in range(10_000)]
    thinned = thin(points, 200)
    assert len(thinned) <= 200
    assert (thinned[0], thinned[-1]) == (points[0], points[-1])
    assert (4321.0, 1000.0) in thinned
    assert all(one[0] < other[0] for one, other in pairwise(thinned))
    assert thin(points[:150], 200) == points[:150]


def test_processes_of_one_group():
    """Only workerd of the runtime's own group counts, by its name with or without a path."""
    listed = "  10   7  2048 workerd\n 11 7 100 node\n 12 8 4096 workerd\n13 7 1024 /a/b c/workerd\nbroken\n"
    assert parse_processes(listed, 7) == {10: 2048 * 1024, 13: 1024 * 1024}


def test_disk_by_part(tmp_path):
    """The files below each folder add up."""
    for name, size in (("d1/a", 3), ("d1/deep/b", 4), ("kv/c", 5)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    assert measure_disk(tmp_path) == {"d1": 7, "kv": 5}


def test_samples_become_lives_and_growth():
    """Each life of a process is a line of its own, and the table tells its first, last and highest value."""
    samples = [
        Sample(0.0, {1: 100_000_000}, {"d1": 1_000_000}),
        Sample(1.0, {1: 300_000_000}, {"d1": 2_000_000}),
        Sample(2.0, {}, {"d1": 2_000_000}),
        Sample(3.0, {2: 90_000_000}, {"d1": 4_000_000, "r2": 1_000_000}),
    ]
    memory, disk = make_panels(samples)
    assert memory.lines["workerd"] == [[(0.0, 100.0), (1.0, 300.0)], [(3.0, 90.0)]]
    assert disk.lines["all"] == [[(0.0, 1.0), (1.0, 2.0), (2.0, 2.0), (3.0, 5.0)]]
    table = format_samples(samples)
    assert re.search(r"^1 +0\.0 to 1\.0 +100 +300 +300$", table, re.MULTILINE)
    assert re.search(r"^all +1\.0 +5\.0 +80\.0$", table, re.MULTILINE)
