"""Samples of the runtime that ./scripts/bench soak takes: memory of its processes, disk of its state; kept in a file."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from soak_picture import Panel, Point

MB: Final = 1e6
PROCESS: Final = "workerd"


@dataclass(frozen=True, slots=True)
class Sample:
    """Bytes of each process by its id, and of each part of the state."""

    minute: float
    memory: Mapping[int, int]
    disk: Mapping[str, int]


def measure_memory(group: int) -> dict[int, int]:
    """Return the resident bytes of each workerd of a process group."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,rss=,comm="], capture_output=True, text=True, check=True)
    return parse_processes(listed.stdout, group)


def parse_processes(listed: str, group: int) -> dict[int, int]:
    rows = (line.split(None, 3) for line in listed.splitlines())
    return {
        int(row[0]): int(row[2]) * 1024
        for row in rows
        if len(row) == 4 and int(row[1]) == group and Path(row[3].strip()).name.startswith(PROCESS)
    }


def measure_disk(folder: Path) -> dict[str, int]:
    """Return the bytes of the files of each part; a file may vanish meanwhile."""
    sizes: Counter[str] = Counter()
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                sizes[path.relative_to(folder).parts[0]] += path.stat().st_size
        except FileNotFoundError:
            continue
    return dict(sizes)


@dataclass(slots=True)
class Recorder:
    """Keeps samples for the picture, and writes samples and counts as lines of JSON."""

    path: Path
    samples: list[Sample] = field(default_factory=list)
    _counted: Counter[str] = field(default_factory=Counter)

    def add(self, sample: Sample) -> None:
        self.samples.append(sample)
        self._write({"minute": round(sample.minute, 3), "memory": sample.memory, "disk": sample.disk})

    def add_counts(self, minute: float, counts: Counter[str]) -> Counter[str]:
        """Write what was counted since the last time, and return it."""
        new = counts - self._counted
        self._counted = counts
        self._write({"minute": round(minute, 3), "counts": dict(sorted(new.items()))})
        return new

    def add_error(self, minute: float, row: Mapping[str, object]) -> None:
        self._write({"minute": round(minute, 3), "error": row})

    def _write(self, row: dict[str, object]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def parse_errors(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield what was logged as an error; a killed runtime may have left half a line."""
    for line in lines:
        with suppress(json.JSONDecodeError):
            row = json.loads(line) if line.startswith("{") else {}
            if row.get("level") == "error":
                yield row


def make_panels(samples: Sequence[Sample]) -> list[Panel]:
    """Return the panels of memory, a line for each life of a process, and of disk, a line for each part and for all."""
    lives: dict[int, list[Point]] = {}
    parts: dict[str, list[Point]] = {"all": []}
    for sample in samples:
        for process, size in sample.memory.items():
            lives.setdefault(process, []).append((sample.minute, size / MB))
        parts["all"].append((sample.minute, sum(sample.disk.values()) / MB))
        for name, size in sample.disk.items():
            parts.setdefault(name, []).append((sample.minute, size / MB))
    return [
        Panel("Memory of workerd, all six Workers", "MB", {PROCESS: list(lives.values())}),
        Panel("Disk of the state", "MB", {name: [points] for name, points in parts.items()}),
    ]


def format_samples(samples: Sequence[Sample]) -> str:
    """Return how memory and disk went: of each life of a process the first, last and highest value."""
    memory, disk = make_panels(samples)
    lines = [f"{'workerd, life':16} {'minutes':>15} {'first MB':>9} {'last MB':>9} {'most MB':>9}"]
    for at, life in enumerate(memory.lines[PROCESS], start=1):
        span = f"{life[0][0]:.1f} to {life[-1][0]:.1f}"
        most = max(size for _, size in life)
        lines.append(f"{at:<16} {span:>15} {life[0][1]:9.0f} {life[-1][1]:9.0f} {most:9.0f}")
    lines += ["", f"{'disk':16} {'first MB':>9} {'last MB':>9} {'MB an hour':>11}"]
    for name, [points] in disk.lines.items():
        if not points:
            continue
        hours = max(points[-1][0] - points[0][0], 1e-9) / 60
        growth = (points[-1][1] - points[0][1]) / hours
        lines.append(f"{name:16} {points[0][1]:9.1f} {points[-1][1]:9.1f} {growth:11.1f}")
    return "\n".join(lines)
