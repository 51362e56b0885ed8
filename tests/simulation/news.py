"""The news pipeline under simulation: crons, readers, publishers and moody servers.

The model is small. Every article that a feed lists ends complete, or given up with a reason, and is in the index and the API once. No page is
fetched more often than there are attempts. Nobody writes another's keys. What the API has shown it never loses.

What is not simulated yet: Workers AI, webhooks and the hub, the news services with their keys, orders of the operator, and clocks that go back.
"""

import asyncio
import json
from collections import Counter
from random import Random
from typing import Any, Final

from simulation.loop import current_process
from simulation.news_world import FEEDS, MAX_ATTEMPTS, WORKERS, NewsPlatform
from simulation.platform import KV_STALE_S
from simulation.simulation import Action, Scenario, Simulation
from simulation.web import Arrival, Served
from sluice.core.news.checkpoint import Checkpoint, parse_checkpoint
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING, PROCESSOR_WRITES, UPDATER_WRITES

CALM_MINUTES: Final = 240
READERS: Final = ("api 1", "api 2")
# KV, the two seconds of an isolate's memory, and the way of a request.
SHOWN_LATE_S: Final = KV_STALE_S + 5
_WORDS: Final = ("rallies", "falls", "pauses", "doubles", "slips", "soars", "dips", "holds", "jumps", "recovers")
_WEIGHTS: Final = {
    "appear": 10,
    "read": 20,
    "crash worker": 3,
    "crash object": 3,
    "mood": 6,
    "set clock": 1,
    "process": 3,
    "update": 3,
}


def plan(chance: Random) -> list[Action]:
    """Return the crons of an hour or so, and what happens meanwhile."""
    minutes = chance.choice((10, 30, 60))
    actions = [
        Action(minute * 60.0 + chance.choice((0, 0, 0, 30, 59.9)), "process")
        for minute in range(minutes)
        for _ in range(chance.choice((0, 1, 1, 1, 1, 2)))
    ]
    actions += [Action(at * 60.0 + chance.uniform(0, 60), "update") for at in range(0, minutes, chance.choice((5, 15)))]
    weights = {name: weight * chance.choice((0, 1, 1, 3)) for name, weight in _WEIGHTS.items()}
    weights["appear"] += 3
    for name in chance.choices(list(weights), list(weights.values()), k=chance.choice((10, 30, 60))):
        actions.append(Action(round(chance.uniform(0, minutes * 60), 3), name, _choose_arguments(name, chance)))
    return [Action(0.0, "appear", (FEEDS[0],)), *sorted(actions)]


def _choose_arguments(name: str, chance: Random) -> tuple[Any, ...]:
    match name:
        case "appear":
            return (chance.choice(FEEDS),)
        case "read":
            return (chance.choice(READERS),)
        case "crash worker":
            return (chance.choice(WORKERS),)
        case "crash object":
            return (chance.choice(("state", "updater", "processor")),)
        case "mood":
            place = chance.choice((*FEEDS, "pages"))
            return place, chance.choice(("down", "slow", "hangs", "empty")), chance.choice((60.0, 600.0))
        case "set clock":
            return chance.choice(WORKERS), chance.choice((1.0, 30.0, 3600.0))
        case _:
            return ()


class NewsWorld:
    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.platform = NewsPlatform(simulation, self._serve)
        self.platform.kv.on_write = self._check_writer
        self.listed: dict[str, list[int]] = {feed: [] for feed in FEEDS}
        self.fetched: Counter[str] = Counter()
        self._moods: dict[str, tuple[str, float]] = {}
        self._count = 0
        # When the API has first shown an article.
        self._shown: dict[str, float] = {}
        self._index: list[str] = []

    async def start(self) -> None:
        """Begin with empty stores."""

    async def act(self, action: Action) -> None:
        await getattr(self, f"_{action.name.replace(' ', '_')}")(*action.arguments)
        self._check_index()

    async def calm(self) -> None:
        """Let the crons run until every article is done; then all are there."""
        self._moods.clear()
        await asyncio.sleep(180)
        await self._check_snapshot()
        await self._update()
        for minute in range(CALM_MINUTES):
            await asyncio.sleep(60)
            await self._process()
            if minute % 30 == 29:
                await self._update()
            if self._is_idle():
                break
        else:
            stored = (self._read_stored(key) for key in (CHECKPOINT, PENDING))
            self.simulation.violate("every article ends", str(list(stored))[:1500])
            return
        await asyncio.sleep(180)
        await self._update()
        await asyncio.sleep(KV_STALE_S + 20)
        self._check_articles()
        for reader in READERS:
            await self._read(reader, is_last=True)

    def _is_idle(self) -> bool:
        checkpoint = self._read_stored(CHECKPOINT) or {}
        links = {article.get("link") for article in self._stored_articles() if is_over(article)}
        is_free = not checkpoint.get("tryLater") and checkpoint.get("currentArticleId") is None
        return is_free and links >= {_link(number) for numbers in self.listed.values() for number in numbers}

    # Other people's servers

    async def _serve(self, arrival: Arrival) -> Served:
        url = arrival.request.url
        self.simulation.note(f"{arrival.sender.name} fetches {url}")
        place = url if url in FEEDS else "pages"
        mood, until = self._moods.get(place, ("fine", 0.0))
        mood = mood if until > self.simulation.loop.time() else "fine"
        if place == "pages":
            self.fetched[url] += 1
            self._check_attempt(url)
            text = f"{url} was fetched {self.fetched[url]} times"
            self.simulation.require(
                self.fetched[url] <= MAX_ATTEMPTS, "no page is fetched more often than allowed", text
            )
        if mood == "down" or _is_dead(url):
            return Served(503)
        if mood == "hangs":
            await asyncio.sleep(500)
        body = _write_page(url) if place == "pages" else _write_feed(self.listed[url])
        kind = "text/html" if place == "pages" else "application/rss+xml"
        if mood == "empty":
            body = b"<rss version='2.0'><channel><title>F</title></channel></rss>" if place in FEEDS else b""
        return Served(200, (("content-type", kind),), body, 8.0 if mood == "slow" else 0.05)

    def _check_attempt(self, url: str) -> None:
        """Check that an attempt was stored before it was made, so that whoever comes after a crash counts it too."""
        rows = self.platform.locks.storage("processor").rows(f"SELECT value FROM announced WHERE key = '{CHECKPOINT}'")  # noqa: S608
        checkpoint = parse_checkpoint(rows[0]["value"] if rows else None)
        known = [checkpoint.current] if isinstance(checkpoint, Checkpoint) else []
        counted = [each.attempts for each in known if each is not None and each.link == url]
        is_counted = bool(counted) and counted[0] >= self.fetched[url]
        text = f"{url} was fetched {self.fetched[url]} times, {counted}"
        self.simulation.require(is_counted, "an attempt is stored before it is made", text)

    async def _mood(self, place: str, mood: str, seconds: float) -> None:
        self._moods[place] = (mood, self.simulation.loop.time() + seconds)

    async def _appear(self, feed: str) -> None:
        self._count += 1
        self.listed[feed].append(self._count)

    # Crons and readers

    async def _update(self) -> None:
        report = await self.platform.run_updater()
        self.simulation.note(f"updater: {report and report.as_json()}"[:300])

    async def _process(self) -> None:
        report = await self.platform.run_processor()
        self.simulation.note(f"processor: {report and report.as_json()}"[:300])

    async def _read(self, reader: str, *, is_last: bool = False) -> None:
        began_at, require = self.simulation.loop.time(), self.simulation.require
        answer = await self.platform.read(reader, "/api/bitcoin-news")
        if answer is None or (answer[0] != 200 and not is_last and not self._must_show(began_at)):
            return
        status, body = answer
        if status in {500, 502, 504} and not is_last:
            self.simulation.counts["reads that failed"] += 1
            return
        require(status == 200, "the API answers", answer)
        ids = [each["id"] for each in (body or {}).get("articles", [])]
        self.simulation.note(f"{reader} shows {ids}")
        require(len(ids) == len(set(ids)), "the API has each article once", ids)
        lost = [each for each in self._must_show(began_at) if each not in ids]
        require(not lost, "the API never loses an article", f"{lost} of {ids}")
        now = self.simulation.loop.time()
        for each in ids:
            self._shown.setdefault(each, now)
        if is_last:
            stored = self._read_stored(INDEX) or []
            require(sorted(ids) == sorted(stored), "the API has all articles in the end", f"{ids} of {stored}")

    def _must_show(self, at: float) -> list[str]:
        return [each for each, shown_at in self._shown.items() if shown_at + SHOWN_LATE_S < at]

    # What happens to machines

    async def _crash_worker(self, name: str) -> None:
        self.simulation.crash(self.platform.isolate(name), "by plan")

    async def _crash_object(self, name: str) -> None:
        (self.platform.states if name == "state" else self.platform.locks).crash("news" if name == "state" else name)

    async def _set_clock(self, name: str, by_s: float) -> None:
        self.platform.isolate(name).skew_s += by_s

    # What must hold

    def _check_writer(self, key: str) -> None:
        place = current_process().place
        domain = {"updater": UPDATER_WRITES, "processor": PROCESSOR_WRITES}.get(place, ())
        is_own = any(key == name or (name.endswith(":") and key.startswith(name)) for name in domain)
        self.simulation.require(is_own, "nobody writes another's keys", f"{place} writes {key}")

    def _check_index(self) -> None:
        """Check that the index has each id once, and never changes the order of those that it has."""
        ids = self._read_stored(INDEX) or []
        self.simulation.require(len(ids) == len(set(ids)), "the index has each article once", ids)
        known = set(self._index)
        kept = [each for each in ids if each in known]
        self.simulation.require(
            kept == self._index, "the index keeps its articles in order", f"{self._index} then {ids}"
        )
        self._index = ids

    async def _check_snapshot(self) -> None:
        """Check that the API shows what its state object knows as soon as nothing fails, without another change."""
        storage = self.platform.states.storage("news")
        if not storage.rows("SELECT 1 FROM sqlite_master WHERE name = 'article'"):
            return
        known = sorted(row["id"] for row in storage.rows("SELECT id FROM article"))
        answer = await self.platform.read(READERS[0], "/api/bitcoin-news")
        shown = sorted(each["id"] for each in answer[1]["articles"]) if answer and answer[0] == 200 else []
        self.simulation.require(shown == known, "the API shows what is published", f"{shown} of {known}")

    def _check_articles(self) -> None:
        by_link: dict[str, list[dict[str, Any]]] = {}
        for article in self._stored_articles():
            by_link.setdefault(str(article.get("link")), []).append(article)
        indexed = self._read_stored(INDEX) or []
        for number in sorted({number for numbers in self.listed.values() for number in numbers}):
            found = by_link.get(_link(number), [])
            self.simulation.require(len(found) == 1, "each article is stored once", f"{_link(number)}: {found}")
            for article in found:
                self.simulation.require(is_over(article), "each article is complete", article)
                members = (("aiSummary", "summaryError"), ("sentiment", "sentimentError"))
                has_reason = all(article.get(value) or article.get(error) for value, error in members)
                self.simulation.require(has_reason, "an article is given up with a reason", article)
                self.simulation.require(article["id"] in indexed, "each article is in the index", article["id"])

    def _read_stored(self, key: str) -> Any:
        text = self.platform.kv.read_now(key)
        return None if text is None else json.loads(text)

    def _stored_articles(self) -> list[dict[str, Any]]:
        keys = (key for key in self.platform.kv.list_now() if key.startswith("article:"))
        return [{"id": key.partition(":")[2], **self._read_stored(key)} for key in keys]


def is_over(article: dict[str, Any]) -> bool:
    return not article.get("needsSentiment") and not article.get("needsSummary")


def _is_dead(url: str) -> bool:
    """Return whether a page never answers, so that its article is given up."""
    return url not in FEEDS and int(url.rpartition("/")[2]) % 4 == 3


def _link(number: int) -> str:
    return f"https://news.example/{number}"


def _title(number: int) -> str:
    return f"Bitcoin {_WORDS[number % 10]} as company {number} reports {number * 7} million"


def _write_feed(numbers: list[int]) -> bytes:
    items = "".join(
        f"<item><title>{_title(number)}</title><link>{_link(number)}</link><guid>{_link(number)}</guid></item>"
        for number in reversed(numbers)
    )
    return f"<rss version='2.0'><channel><title>F</title>{items}</channel></rss>".encode()


def _write_page(url: str) -> bytes:
    number = int(url.rpartition("/")[2])
    text = f"{_title(number)}. The company said so on Monday. Its shares rose by {number} percent after the news. "
    paragraphs = "".join(f"<p>{text} Analysts were glad, part {part}.</p>" for part in range(6))
    return f"<html><head><title>{_title(number)}</title></head><body><article><h1>{_title(number)}</h1>{paragraphs}</article></body></html>".encode()


NEWS: Final = Scenario("news", plan, NewsWorld)
