"""How long an editor waits for a save in WordPress: without the plugin, with it, and with a Worker that hangs."""

import argparse
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from runtime import ROOT

SAVES: Final = 12
# How much longer than without the plugin the least, the median and the slowest save may take.
BARS_MS: Final = (50, 100, 400)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--saves", type=int, default=SAVES, help=f"saves of each kind ({SAVES})")


def measure(options: argparse.Namespace) -> None:
    sys.path.append(str(ROOT / "tests"))
    from debian_packages import WORDPRESS, fetch_packages  # noqa: PLC0415
    from wordpress.blog import Blog  # noqa: PLC0415
    from wordpress.programs import Programs  # noqa: PLC0415
    from wordpress.recording_worker import Reply, recording_worker  # noqa: PLC0415
    from wordpress.wordpress_site import WordPress  # noqa: PLC0415

    gate = threading.Event()
    programs = Programs(fetch_packages(WORDPRESS))
    times: dict[str, list[float]] = {"no plugin": [], "plugin": [], "Worker hangs": []}
    with tempfile.TemporaryDirectory() as folder, recording_worker() as worker:
        wordpress = WordPress(programs, Path(folder) / "wp")
        try:
            wordpress.start()
            blog = Blog(wordpress, worker)
            for _ in range(options.saves):
                for kind, kind_times in times.items():
                    worker.answer = (lambda _request: Reply(503, gate=gate)) if kind == "Worker hangs" else _accept
                    if kind == "no plugin":
                        wordpress.deactivate()
                    elif kind == "plugin":
                        wordpress.activate()
                        blog.wait_until_sent()
                    blog.publish(f"Not measured {time.perf_counter()}")  # what changed just now is loaded
                    began = time.perf_counter()
                    blog.publish(f"A save at {began}")
                    kind_times.append(1000 * (time.perf_counter() - began))
                    if kind == "Worker hangs":
                        gate.set()
                        worker.reset()
                        blog.forget_failures()
                        blog.wait_until_sent()
                        gate.clear()
        finally:
            gate.set()
            wordpress.stop()
    without = _summarise(times["no plugin"])
    for kind, values in times.items():
        figures = zip(("least", "median", "slowest"), _summarise(values), without, BARS_MS, strict=True)
        said = [f"{name} {ms:.0f} ms ({ms - base:+.0f}, bar +{bar})" for name, ms, base, bar in figures]
        print(f"{kind:13} {', '.join(said)}")


def _summarise(values: list[float]) -> tuple[float, float, float]:
    return min(values), statistics.median(values), max(values)


def _accept(_request: object) -> None:
    """Leaves the reply to the recording Worker."""
