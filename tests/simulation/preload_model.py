"""What must hold of the preloader, small enough to read: the origin's history, purges, accepted pages, limits.

The model knows only what people outside know: what the origin said when, what was answered to whom. It compares by the true clock.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from simulation.loop import Process
from simulation.simulation import Simulation
from simulation.web import Arrival
from sluice.web import Reply

# Two clocks, milliseconds, and the way of a request.
SLACK_S = 0.05
USUAL_S = 3600  # the lifetime of a page that says nothing of it
SLOW_S = 100.0  # an answer of the origin may have been under way for so long


@dataclass
class Page:
    """A page of the origin, with the times at which its versions began."""

    path: str
    max_age_s: int | None
    began: list[float] = field(default_factory=lambda: [0.0])

    @property
    def version(self) -> int:
        return len(self.began)


@dataclass
class Demand:
    """After `since` visitors get at least this version of a page."""

    since: float
    version: int
    is_soft: bool


@dataclass
class Acceptance:
    """A batch that was accepted: its pages are warmed by requests that begin after the call did."""

    batch_id: str
    called_at: float
    paths: list[str]
    is_void: bool = False  # the zone was deleted meanwhile, or the batch cancelled


@dataclass
class Limits:
    """The zone's limits, valid since a time."""

    since: float
    at_once: int
    per_second: int
    per_minute: int
    is_certain: bool = True  # False: the call was not answered, or not yet


@dataclass
class PreloadModel:
    simulation: Simulation
    pages: dict[str, Page]
    demands: dict[str, list[Demand]] = field(default_factory=dict)
    acceptances: list[Acceptance] = field(default_factory=list)
    limits: list[Limits] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)
    replies: dict[str, str] = field(default_factory=dict)
    # Times at which a clock was set: windows that contain one are not compared.
    jumps: list[float] = field(default_factory=list)
    # For so long, at most, any configuration allows to serve stale.
    stale_s: float = 0.0
    paused_since: float | None = None

    def now(self) -> float:
        return self.simulation.loop.time()

    def purged(self, paths: list[str], versions: dict[str, int], delay_s: float, *, is_soft: bool) -> None:
        """Note an acknowledged purge: after the delay nobody gets what the pages said before the call."""
        since = self.now() + delay_s + SLACK_S
        for path in paths:
            self.demands.setdefault(path, []).append(Demand(since, versions[path], is_soft))

    def check_visit(self, path: str, began_at: float, reply: Reply, body: bytes, skew_s: float) -> None:
        """Check what a visitor got against what the origin said and which purges were acknowledged."""
        if reply.status != 200:
            self.simulation.counts[f"visits answered {reply.status}"] += 1
            known = {404, 429, 500, 502, 503, 504}
            self.simulation.require(reply.status in known, "visitors get a reply that makes sense", reply.status)
            return
        page, status = self.pages[path], reply.header("cache-status") or ""
        layer = f"{reply.header('x-cache')} {reply.header('x-cache-layer')}"
        self.simulation.counts[f"visits answered {layer}"] += 1
        version = read_version(path, body)
        if version is None:
            self.simulation.violate("a body is whole and of its page", f"{path}: {body!r}")
            return
        self.simulation.require(version <= page.version, "no version comes from the future", f"{path} v{version}")
        is_excused = reply.header("x-cache") == "STALE"
        needed = [
            each
            for each in self.demands.get(path, ())
            if each.since + skew_s <= began_at and not (each.is_soft and is_excused)
        ]
        least = max((each.version for each in needed), default=1)
        if version < least and "unchecked" not in status:
            text = f"{path} v{version}, but v{least} was purged for; {layer}; {status}"
            self.simulation.violate("a purge holds two seconds after its 202", text)

        if not self.jumps:
            self._check_age(page, version, began_at, is_stale=is_excused)

    def _check_age(self, page: Page, version: int, at: float, *, is_stale: bool) -> None:
        """Check that what was replaced at the origin is not served for longer than its lifetime."""
        if version == page.version:
            return
        lifetime_s = USUAL_S if page.max_age_s is None else page.max_age_s
        allowed_s = lifetime_s + (self.stale_s if is_stale else 0) + SLOW_S
        age_s = at - page.began[version]
        text = f"{page.path} v{version} was replaced {age_s:.0f} s ago, {allowed_s:.0f} s are allowed"
        self.simulation.require(age_s <= allowed_s, "no copy outlives its lifetime", text)

    def arrive(self, arrival: Arrival, path: str) -> None:
        """Check a request of the zone's object against the zone's limits."""
        if arrival.sender.kind != "object":
            return
        now, recent = self.now(), self.arrivals[-200:]
        same = [each for each in recent if each.is_under_way and each.sender is arrival.sender and _path(each) == path]
        self.arrivals.append(arrival)
        self.simulation.require(
            not same or path not in self.pages,
            "one page is fetched once at a time",
            f"{path} twice by {arrival.sender.name}",
        )
        if any(now - 62 <= jump for jump in self.jumps):
            return
        limits = self._find_limits(now - 62)
        for name, window_s, most in (
            ("second", 1.0, max(each.per_second for each in limits)),
            ("minute", 60.0, max(each.per_minute for each in limits)),
        ):
            seen = sum(each.at > now - window_s for each in self.arrivals[-2000:])
            self.simulation.require(
                seen <= most, "rate limits hold", f"{seen} requests in a {name}, {most} are allowed"
            )
        at_once = sum(each.is_under_way for each in self.arrivals[-200:])
        most = max(each.at_once for each in limits)
        self.simulation.require(at_once <= most, "concurrency holds", f"{at_once} at once, {most} are allowed")

    def _find_limits(self, since: float) -> list[Limits]:
        """Return the limits that may have been valid at some time since then."""
        found: list[Limits] = []
        for each in reversed(self.limits):
            found.append(each)
            if each.is_certain and each.since <= since:
                break
        return found

    def send(self, sender: Process, path: str, state: Callable[[str], Any], wall: float) -> None:
        """Check a request that is being sent against the breaker and the operator's pause."""
        if sender.kind != "object" or path not in self.pages or not sender.alive:
            return
        breaker = state("breaker") or {}
        if breaker.get("state") == "open":
            opened_at = breaker["open_until"] - breaker["backoff_s"]
            is_wrong = opened_at + 1.5 < wall < breaker["open_until"]
            self.simulation.require(not is_wrong, "nothing is sent while the breaker is open", f"{path} {breaker}")
        others = [each for each in self.arrivals[-200:] if each.is_under_way and _path(each) in self.pages]
        if breaker.get("state") == "half-open":
            self.simulation.require(not others, "a half-open breaker lets one page try", f"{path} beside {len(others)}")
        if self.paused_since is not None:
            is_wrong = self.now() > self.paused_since + 1
            self.simulation.require(not is_wrong, "a paused zone sends nothing", path)

    def replied(self, key: str, reply: str) -> None:
        """Check that an idempotency key replays its first reply."""
        first = self.replies.setdefault(key, reply)
        self.simulation.require(first == reply, "an idempotency key replays", f"{key}: {first} then {reply}")


def read_version(path: str, body: bytes) -> int | None:
    """Return the version of a page's body; None if it is not a whole body of this page."""
    parts = body.decode(errors="replace").split(" ")
    is_whole = len(parts) == 4 and parts[0] == "begin" and parts[1] == path and parts[3] == "end"
    return int(parts[2]) if is_whole and parts[2].isdigit() else None


def write_version(path: str, version: int) -> bytes:
    return f"begin {path} {version} end".encode()


def _path(arrival: Arrival) -> str:
    return "/" + arrival.request.url.partition("://")[2].partition("/")[2]
