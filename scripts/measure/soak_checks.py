"""What must hold while ./scripts/bench soak runs, as checks that know neither network nor clock; times are in seconds."""

import re
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

INVARIANTS: Final = {
    "ends": "every accepted job, workflow, build and batch ends once",
    "causes": "none of them fails while all sources are well",
    "lists": "the address of a published list is a whole version, and never goes back",
    "pages": "after an acknowledged purge a visitor gets no older page than the origin had",
    "articles": "each article is served once, and stays",
    "replies": "nothing answers 5xx, or not at all, except while the runtime is down or a source is made to fail",
    "restarts": "the runtime starts again on the same state",
    "soak": "all replies have the form that this bench expects",
}
SENTENCES: Final = 10  # kept for each invariant
KEPT_WINDOWS: Final = 500
KEPT_ENDED: Final = 100
KEPT_FLOORS: Final = 20
STAYING_ARTICLES: Final = 300
_RULE: Final = re.compile(r"([a-z]+)-(\d+)-(\d+)\.soak\.example")
_BASE_RULES: Final = 300


class Findings:
    """Counts of what happened and of what was broken; threads share it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.broken: Counter[str] = Counter()
        self._sentences: dict[str, list[str]] = {}
        self._lock = threading.Lock()

    def count(self, name: str, n: int = 1) -> None:
        with self._lock:
            self.counts[name] += n

    def report(self, invariant: str, sentence: str) -> None:
        """Count an invariant as broken; the first sentences of each are kept."""
        with self._lock:
            self.broken[INVARIANTS[invariant]] += 1
            kept = self._sentences.setdefault(invariant, [])
            if len(kept) < SENTENCES:
                kept.append(sentence)

    def list_sentences(self) -> list[str]:
        with self._lock:
            return [sentence for kept in self._sentences.values() for sentence in kept]

    def copy_counts(self) -> Counter[str]:
        with self._lock:
            return Counter(self.counts)


class Windows:
    """Spans of time in which something was so, the last of which may still be open; only the latest are kept."""

    def __init__(self) -> None:
        self._spans: deque[tuple[float, float]] = deque(maxlen=KEPT_WINDOWS)

    def open(self, at: float) -> None:
        self._spans.append((at, float("inf")))

    def close(self, at: float) -> None:
        began, _ = self._spans.pop()
        self._spans.append((began, at))

    @property
    def is_open(self) -> bool:
        return bool(self._spans) and self._spans[-1][1] == float("inf")

    def overlaps(self, began: float, ended: float) -> bool:
        return any(start <= ended and began <= end for start, end in list(self._spans))

    def list_spans(self, until: float) -> list[tuple[float, float]]:
        return [(start, min(end, until)) for start, end in list(self._spans)]


@dataclass(slots=True)
class Work:
    """Something accepted: `place` is where its status is asked for."""

    kind: str
    id: str
    place: str
    accepted_at: float
    outcome: str = ""


@dataclass(slots=True)
class Accepted:
    """What was accepted, until it ended and for a while after that: an end must not change."""

    findings: Findings
    most: int = 60  # that may wait at the same time
    _waiting: "OrderedDict[str, Work]" = field(default_factory=OrderedDict)
    _ended: "OrderedDict[str, Work]" = field(default_factory=OrderedDict)

    @property
    def has_room(self) -> bool:
        return len(self._waiting) < self.most

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def knows(self, work_id: str) -> bool:
        return work_id in self._waiting or work_id in self._ended

    def add(self, work: Work) -> None:
        if self.knows(work.id):
            self.findings.report("ends", f"Two requests were answered with the same id: {work.kind} {work.id}.")
            return
        self.findings.count(f"{work.kind}: accepted")
        self._waiting[work.id] = work

    def list_waiting(self, count: int) -> list[Work]:
        """Return those that were not looked at for the longest time."""
        chosen = list(self._waiting.values())[:count]
        for work in chosen:
            self._waiting.move_to_end(work.id)
        return chosen

    def list_ended(self, count: int) -> list[Work]:
        chosen = list(self._ended.values())[:count]
        for work in chosen:
            self._ended.move_to_end(work.id)
        return chosen

    def see(self, work: Work, outcome: str | None) -> bool:
        """Note how it stands: None while it goes on. Return whether it has just ended."""
        if work.outcome:
            if outcome != work.outcome:
                now = outcome or "going on"
                self.findings.report("ends", f"{work.kind} {work.id} ended as {work.outcome}, and is {now} afterwards.")
            return False
        if outcome is None:
            return False
        work.outcome = outcome
        self.findings.count(f"{work.kind}: {outcome}")
        del self._waiting[work.id]
        self._ended[work.id] = work
        while len(self._ended) > KEPT_ENDED:
            self._ended.popitem(last=False)
        return True

    def report_unended(self) -> None:
        for work in self._waiting.values():
            self.findings.report("ends", f"{work.kind} {work.id} has not ended.")


def read_outcome(work: Work, told: dict[str, Any]) -> str | None:
    """Return how a job, workflow or build ended, or None while it goes on."""
    if work.place.startswith("/queue/"):
        return told["status"] if told["status"] in {"completed", "failed", "cancelled"} else None
    if told["status"] in {"errored", "terminated"}:
        return str(told["status"])
    if told["status"] != "complete":
        return None
    output = told["output"] or {}
    if work.kind == "build":
        return str(output.get("outcome", "complete"))
    return "complete" if output.get("success", True) else "complete, with a failure"


def write_edition(source: str, edition: int) -> str:
    """Return an edition of a source, whose every rule names it; editions differ in size."""
    rules = (f"||{source}-{edition}-{at}.soak.example^\n" for at in range(count_rules(edition)))
    return f"! Title: {source}\n{''.join(rules)}"


def count_rules(edition: int) -> int:
    return _BASE_RULES + edition * 37 % 100


def read_editions(text: str) -> dict[str, int]:
    """Return the edition of each source in a published list; a mixed or incomplete one is a ValueError."""
    rules: dict[str, set[tuple[int, int]]] = {}
    for source, edition, at in _RULE.findall(text):
        rules.setdefault(source, set()).add((int(edition), int(at)))
    editions = {}
    for source, found in rules.items():
        numbers = {edition for edition, _ in found}
        if len(numbers) != 1:
            raise ValueError(f"rules of {source} are of the editions {sorted(numbers)}")
        [editions[source]] = numbers
        if len(found) != count_rules(editions[source]):
            raise ValueError(f"{source} has {len(found)} of {count_rules(editions[source])} rules")
    return editions


@dataclass(slots=True)
class ListAddress:
    """One address of a published list, as one reader sees it."""

    path: str
    sources: Sequence[str]
    findings: Findings
    _latest: dict[str, int] = field(default_factory=dict)

    def check(self, text: str) -> None:
        try:
            editions = read_editions(text)
        except ValueError as error:
            self.findings.report("lists", f"{self.path} is no whole version: {error}.")
            return
        if missing := set(self.sources) - editions.keys():
            self.findings.report("lists", f"{self.path} has no rule of {', '.join(sorted(missing))}.")
        for source, edition in editions.items():
            latest = self._latest.get(source, 0)
            if edition < latest:
                self.findings.report("lists", f"{self.path} had the edition {latest} of {source}, and then {edition}.")
            if edition > latest:
                self.findings.count("published list: newer at an address")
            self._latest[source] = max(edition, latest)


class PageFloors:
    """Which edition of each page a visitor must get at least, by acknowledged purges and when they hold."""

    def __init__(self) -> None:
        self._floors: dict[int, list[tuple[float, int]]] = {}
        self._lock = threading.Lock()

    def hold(self, page: int, edition: int, at: float) -> None:
        """Note that visitors who come at this time or later must get this edition or a newer one."""
        with self._lock:
            floors = self._floors.setdefault(page, [])
            floors.append((at, edition))
            if len(floors) > KEPT_FLOORS:
                floors[:] = floors[-KEPT_FLOORS:]

    def find(self, page: int, came_at: float) -> int:
        with self._lock:
            return max((edition for at, edition in self._floors.get(page, ()) if at <= came_at), default=0)


@dataclass(slots=True)
class Articles:
    """Which articles were written, and which were served. The newest stay, older ones may leave the index."""

    findings: Findings
    _written: deque[str] = field(default_factory=lambda: deque(maxlen=STAYING_ARTICLES))
    _served: set[str] = field(default_factory=set)

    def write(self, link: str) -> None:
        self._written.append(link)
        self.findings.count("articles: written")

    def check(self, links: Iterable[str]) -> None:
        """Compare what is served at one moment with what was served before."""
        counted = Counter(links)
        for link, n in counted.items():
            if n > 1:
                self.findings.report("articles", f"{link} is served {n} times.")
        staying = set(self._written)
        for link in sorted((self._served & staying) - counted.keys()):
            self.findings.report("articles", f"{link} was served, and is not any more.")
        new = counted.keys() - self._served
        self.findings.count("articles: served", len(new & staying))
        self._served = (self._served | counted.keys()) & staying

    def list_missing(self) -> list[str]:
        return [link for link in self._written if link not in self._served]

    def report_missing(self) -> None:
        for link in self.list_missing():
            self.findings.report("articles", f"{link} was never served.")
