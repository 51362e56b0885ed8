"""hours of mixed load on all six Workers, killed and restarted: invariants, memory and disk over time as a picture"""

import argparse
import json
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from runtime import ROOT, NotStarted, Runtime
from sluice.cli.terminal import ProgressBar
from sluice.core.compiler.events import Event
from soak_checks import INVARIANTS, Findings
from soak_clients import KEY, TOKEN, Clients
from soak_load import SITE_HOST, CompilerLoad, NewsLoad, SiteLoad, Task, configure
from soak_picture import draw_picture
from soak_samples import Recorder, Sample, format_samples, make_panels, measure_disk, measure_memory, parse_errors
from soak_sources import KINDS, Faults, Sources, serve_sources

PICTURE: Final = ROOT / ".cache/soak/soak.svg"
MOST_RATE: Final = 10.0
MOST_SAMPLES: Final = 5_000
_SAMPLE_S: Final = 5.0
_TURN_S: Final = 0.5
_SETTLE_S: Final = 360.0  # a workflow retries a source for 210 s
_JOIN_S: Final = 120.0
_SHOWN_ERRORS: Final = 20  # of each kind, in the file
_LOAD: Final = "load"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hours", type=float, required=True, metavar="N", help="how long, such as 8 or 0.05")
    parser.add_argument(
        "--kill-minutes", type=float, default=5, metavar="N", help="minutes between kills, on average (5; 0: never)"
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=1,
        help=f"how many times the usual load, at most {MOST_RATE:.0f} (1: about 7 requests a second)",
    )
    parser.add_argument("--seed", type=int, default=1, help="which order of loads, faults and kills (1)")
    parser.add_argument(
        "--picture",
        type=Path,
        default=PICTURE,
        metavar="FILE",
        help="the SVG; the samples are beside it, as .jsonl (.cache/soak/soak.svg)",
    )


def measure(options: argparse.Namespace) -> None:
    if options.hours <= 0 or not 0 < options.rate <= MOST_RATE or options.kill_minutes < 0:
        raise SystemExit(
            f"--hours must be above 0, --rate above 0 and at most {MOST_RATE:.0f}, --kill-minutes 0 or more"
        )
    options.picture.parent.mkdir(parents=True, exist_ok=True)
    records = options.picture.with_suffix(".jsonl")
    records.unlink(missing_ok=True)
    with ExitStack() as stack:
        state = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        faults = Faults(random.Random(options.seed))  # noqa: S311 - nothing is secret
        sources = Sources(faults)
        stack.enter_context(serve_sources(sources))
        stop = stack.enter_context(stopped_by_signals())
        runtime = Runtime(state, *build_arguments(sources)).start()
        stack.callback(runtime.kill)
        soak = Soak(runtime, sources, Recorder(records), options, stop)
        soak.run()
    print(soak.report(), flush=True)
    options.picture.write_text(soak.draw(), encoding="utf-8")
    print(f"\n{options.picture}\n{records}", file=sys.stderr, flush=True)
    if soak.findings.broken:
        raise SystemExit("\n".join(["", *soak.findings.list_sentences()]))


def build_arguments(sources: Sources) -> list[str]:
    """Return the options of the runtime, which reaches nothing but the made sources."""
    steady = configure(sources.url("/steady/steadya"), name="Warmed")
    variables = {
        "ADMIN_TOKEN": TOKEN,
        "SIGNING_KEY": KEY,
        "ALLOW_PRIVATE_HOSTS": sources.address,
        "RATE_LIMIT_MAX_REQUESTS": "1000000000",
        "HEALTH_SOURCES": json.dumps([{"name": "delta", "url": sources.url("/lists/delta"), "expectedMinRules": 1}]),
        "WARM_CONFIGURATIONS": json.dumps([steady]),
        "PUBLISHED_LISTS": "{}",
        "NEWS_FEEDS": sources.url("/feed"),
        "NEWSDATA_API_KEY": "",
        "APITUBE_API_KEY": "",
        "MAX_ARTICLES_PER_RUN": "5",
        "RETRY_DELAY_S": "10",
    }
    return [f"--route={SITE_HOST}=edge-preload", *(f"--var={name}={value}" for name, value in variables.items())]


class Stop:
    """What Ctrl-C and SIGTERM ask for: the first ends the load, the second the wait for the rest, the third everything."""

    def __init__(self) -> None:
        self.is_hurried = False
        self._asked = threading.Event()

    def wait(self, seconds: float) -> bool:
        """Return whether the load must end, at the latest after these seconds."""
        return self._asked.wait(seconds)

    def handle_signal(self, _number: int, _frame: object) -> None:
        if self.is_hurried:
            raise KeyboardInterrupt
        self.is_hurried = self._asked.is_set()
        self._asked.set()


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    stop = Stop()
    before = {each: signal.signal(each, stop.handle_signal) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class Soak:
    """One run: the tasks have a thread each; this one kills, starts, samples and shows."""

    def __init__(
        self, runtime: Runtime, sources: Sources, recorder: Recorder, options: argparse.Namespace, stop: Stop
    ) -> None:
        self.findings = Findings()
        self._runtime, self._sources, self._recorder, self._stop = runtime, sources, recorder, stop
        self._seconds, self._rate = options.hours * 3600, options.rate
        self._kill_s, self._seed = options.kill_minutes * 60, options.seed
        self._draw = random.Random(f"kills {options.seed}")  # noqa: S311
        self._began_at = time.monotonic()
        self._minutes = 0.0
        self._clients = Clients(runtime, self.findings, sources.faults, self._began_at)
        self._loads_end, self._threads = threading.Event(), list[threading.Thread]()
        self._compiler = CompilerLoad(self._clients, sources, self._new_draw("compiler"))
        self._site = SiteLoad(self._clients, sources, self._new_draw("site"))
        self._news = NewsLoad(self._clients, sources)
        self._kills: list[float] = []
        self._starts_s: list[float] = []
        self._logged: Counter[str] = Counter()
        self._next_sample_at = self._next_minute_at = 0.0
        self._sample_s = max(_SAMPLE_S, self._seconds / MOST_SAMPLES)
        self._bar = ProgressBar(sys.stderr)

    def _new_draw(self, name: str) -> random.Random:
        return random.Random(f"{name} {self._seed}")  # noqa: S311

    def run(self) -> None:
        """Load the runtime until the time is up or a signal came, then wait until what was accepted has ended."""
        self._clients.note_up(time.monotonic())
        self._compiler.publish()
        self._site.register()
        self._news.open()
        loads = (self._compiler, self._site, self._news)
        self._start_tasks([task for load in loads for task in load.tasks()], self._loads_end)
        self._start_tasks([task for load in loads for task in load.closing_tasks()], self._clients.over)
        try:
            if self._load():
                self._settle()
        finally:
            self._loads_end.set()
            self._clients.over.set()
            deadline = time.monotonic() + _JOIN_S
            for thread in self._threads:
                thread.join(max(0.0, deadline - time.monotonic()))
            self._minutes = self._tell_minute()
            self._read_log()
            self._recorder.add_counts(self._minutes, self.findings.copy_counts())
            self._bar.clear()

    def _load(self) -> bool:
        """Return whether the runtime is still there at the end."""
        ends_at = self._began_at + self._seconds
        kill_at = self._choose_kill()
        while not self._stop.wait(_TURN_S) and (now := time.monotonic()) < ends_at:
            self._sources.faults.tick(now)
            self._watch(now, "loading")
            if now >= kill_at:
                if not self._kill_and_start():
                    return False
                kill_at = self._choose_kill()
        return True

    def _choose_kill(self) -> float:
        return time.monotonic() + self._kill_s * self._draw.uniform(0.5, 1.5) if self._kill_s else float("inf")

    def _kill_and_start(self) -> bool:
        began = time.monotonic()
        self._clients.note_down(began)
        self._kills.append(self._tell_minute())
        self._runtime.kill()
        self._read_log()
        started = time.monotonic()
        try:
            self._runtime.start()
        except NotStarted as error:
            self.findings.report("restarts", f"{self._clients.tell_time(began)} the runtime did not start: {error}")
            return False
        self._clients.note_up(time.monotonic())
        self._starts_s.append(time.monotonic() - started)
        return True

    def _settle(self) -> None:
        """Make all sources well, submit nothing any more, and wait until everything has ended and is served."""
        self._sources.faults.end(time.monotonic())
        self._loads_end.set()
        ends_at = time.monotonic() + _SETTLE_S
        while not self._is_settled() and (now := time.monotonic()) < ends_at:
            if self._stop.is_hurried:
                self.findings.count("ended before everything had ended")
                return
            self._watch(now, "waiting for the rest (Ctrl-C: not)")
            time.sleep(_TURN_S)
        self._compiler.accepted.report_unended()
        self._site.batches.report_unended()
        self._news.articles.report_missing()
        self._compiler.close()

    def _is_settled(self) -> bool:
        is_idle = not any(thread.is_alive() for thread in self._threads if thread.name == _LOAD)
        is_done = self._compiler.accepted.is_empty and self._site.batches.is_empty
        return is_idle and is_done and not self._news.articles.list_missing()

    def _watch(self, now: float, what: str) -> None:
        """Take a sample if it is time, and show how far it is."""
        if now >= self._next_sample_at:
            self._next_sample_at = now + self._sample_s
            memory = measure_memory(self._runtime.process.pid)
            self._recorder.add(Sample(self._tell_minute(), memory, measure_disk(self._runtime.state / "v3")))
        if now >= self._next_minute_at:
            is_first = not self._next_minute_at
            self._next_minute_at = now + 60
            self._read_log()
            new = self._recorder.add_counts(self._tell_minute(), self.findings.copy_counts())
            if not sys.stderr.isatty() and not is_first:
                print(
                    f"{self._tell_progress(what)}; this minute {_sum_requests(new)} requests",
                    file=sys.stderr,
                    flush=True,
                )
        done, total = round(now - self._began_at), round(self._seconds)
        progress = {"current": min(done, total), "total": total, "message": self._tell_progress(what)}
        self._bar.show(Event("progress", progress))

    def _tell_progress(self, what: str) -> str:
        memory = sum(self._recorder.samples[-1].memory.values()) / 1e6 if self._recorder.samples else 0
        disk = sum(self._recorder.samples[-1].disk.values()) / 1e6 if self._recorder.samples else 0
        return (
            f"{self._tell_minute():.1f} of {self._seconds / 60:.1f} min, {what}, {self._sources.faults.name()}: "
            f"{_sum_requests(self.findings.copy_counts()):,} requests, {len(self._kills)} kills, "
            f"{memory:.0f} MB memory, {disk:.0f} MB disk, {self.findings.broken.total()} broken"
        )

    def _tell_minute(self) -> float:
        return (time.monotonic() - self._began_at) / 60

    def _read_log(self) -> None:
        """Count what the Workers logged as errors, and forget what the runtime printed but for its end."""
        lines = self._runtime.lines
        new = lines[:]
        del lines[: len(new)]
        for row in parse_errors(new):
            name = f"{row.get('worker')}: {row.get('event', 'a message')}"
            self._logged[name] += 1
            if self._logged[name] <= _SHOWN_ERRORS:
                self._recorder.add_error(self._tell_minute(), row)

    def _start_tasks(self, tasks: list[Task], end: threading.Event) -> None:
        for name, every_s, work in tasks:
            thread = threading.Thread(
                target=self._repeat,
                args=(name, every_s / self._rate, work, end),
                name=_LOAD if end is self._loads_end else name,
                daemon=True,
            )
            self._threads.append(thread)
            thread.start()

    def _repeat(self, name: str, every_s: float, work: Callable[[], None], end: threading.Event) -> None:
        """Do it again and again with pauses, so that the rate is bounded; what goes wrong here is reported like all else."""
        draw = self._new_draw(name)
        while not end.wait(every_s * draw.uniform(0.5, 1.5)):
            try:
                work()
            except Exception as error:  # noqa: BLE001 - a surprise must not end the load
                self.findings.report("soak", f"To {name} failed: {error!r}")

    def draw(self) -> str:
        faults = self._sources.faults
        now = self._began_at + self._minutes * 60
        spans = {f"{kind} slow or failing": faults.windows[kind].list_spans(now) for kind in KINDS}
        minutes = {
            name: [((began - self._began_at) / 60, (ended - self._began_at) / 60) for began, ended in stretches]
            for name, stretches in spans.items()
        }
        title = (
            f"{self._minutes:.0f} minutes, {_sum_requests(self.findings.counts):,} requests, {len(self._kills)} kills"
        )
        panels = make_panels(self._recorder.samples)
        return draw_picture(title, panels, minutes=self._minutes, marks={"kill": self._kills}, spans=minutes)

    def report(self) -> str:
        """Return the tables: counts, log, memory and disk, and the invariants."""
        lines = [f"{self._minutes:.1f} minutes, killed {len(self._kills)} times"]
        if self._starts_s:
            lines[0] += f", ready again after {min(self._starts_s):.1f} to {max(self._starts_s):.1f} s"
        lines += ["", f"{'counted':52} {'':>9}"]
        lines += [f"{name:52} {n:9,}" for name, n in sorted(self.findings.counts.items())]
        lines += ["", f"{'logged as errors':52} {'':>9}"]
        lines += [f"{name:52} {n:9,}" for name, n in self._logged.most_common()]
        lines += ["", format_samples(self._recorder.samples), "", f"{'broken':>9}  invariant"]
        lines += [f"{self.findings.broken[sentence]:9,}  {sentence}" for sentence in INVARIANTS.values()]
        return "\n".join(lines)


def _sum_requests(counts: Counter[str]) -> int:
    return sum(n for name, n in counts.items() if name.startswith("requests: "))
