"""What goes wrong with stored news and with feeds, in workerd: nothing is lost, and nothing is processed twice."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

TOKEN = "the-operators-token"
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
HERE = ROOT / "tests/workerd/news"
CONFIGS = [
    *(f"--config={HERE}/wrangler.{name}.toml" for name in ("ai", "api")),
    *(f"--config={HERE}/wrangler.{name}.toml" for name in ("updater", "processor")),
]
UPDATER, PROCESSOR, API, STORE = "updater-ai", "processor-ai", "api-ai", "fake-ai"
HTML = {"Content-Type": "text/html"}
TEXT = "Bitcoin climbed on Monday as buyers returned, and the analysts of a bank said that number {} was the reason for it."
PAGE = Answer(f"<article>{''.join(f'<p>{TEXT.format(n)}</p>' for n in range(5))}</article>".encode(), headers=HTML)
RSS = "<rss version='2.0'><channel><title>{}</title>{}</channel></rss>"
WORDS = ("Miners", "Banks", "Courts", "Wallets", "Bridges", "Oracles", "Funds", "Exchanges", "Nodes", "Senators")
STAGES = 3
MAX_RUNS = 100


class Service:
    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self.runtime, self.origin = runtime, origin

    def run(self, worker: str) -> dict[str, Any]:
        with self.runtime.client(worker) as client:
            reply = client.post("/run", headers=ADMIN, timeout=PATIENCE_S)
        assert reply.status_code == 200, reply.text
        report: dict[str, Any] = reply.json()
        return report

    def run_until_idle(self) -> None:
        """Run the processor until it has nothing to do."""
        for _ in range(MAX_RUNS):
            report = self.run(PROCESSOR)
            if report["outcome"] == "idle":
                return
        raise AssertionError(f"still busy after {MAX_RUNS} runs: {report}")

    def list_ids(self) -> list[str]:
        with self.runtime.client(API) as client:
            reply = client.get("/api/bitcoin-news")
        return [] if reply.status_code == 503 else [each["id"] for each in reply.json()["articles"]]

    def put(self, key: str, value: str) -> None:
        with self.runtime.client(STORE) as client:
            client.put(f"/{key}", content=value).raise_for_status()

    def get(self, key: str) -> Any:
        with self.runtime.client(STORE) as client:
            return client.get(f"/{key}").text

    def read(self, key: str) -> Any:
        return json.loads(self.get(key))

    def count(self, worker: str) -> dict[str, int]:
        counts = httpx.get(f"{self.runtime.url}/cdn-cgi/local/operations", timeout=PATIENCE_S).json()
        found: dict[str, int] = counts.get(worker, {})
        return found

    def count_kv(self, work: Callable[[], object], *workers: str) -> tuple[int, int]:
        """Return the reads and writes of some Workers."""
        before = [self.count(worker) for worker in workers]
        work()
        after = [self.count(worker) for worker in workers]
        kinds = ("kv_reads", "kv_writes")
        reads, writes = (
            sum(now.get(kind, 0) - then.get(kind, 0) for now, then in zip(after, before, strict=True)) for kind in kinds
        )
        return reads, writes

    def find_log(self, event: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.runtime.lines if f'"event": "{event}"' in line]

    def serve_feed(self, *items: str, path: str = "/feed", title: str = "Site") -> None:
        self.origin.serve(path, RSS.format(title, "".join(items)))

    def collect(self) -> int:
        """Update and process until there is nothing left; return how many articles were added."""
        added = self.run(UPDATER)["added"]
        self.run_until_idle()
        return len(added)

    def serve_pages(self, numbers: Iterable[int], query: str = "") -> None:
        for number in numbers:
            self.origin.serve(f"/page/{number}{query}", PAGE)

    def item(self, number: int, *, guid: str = "", query: str = "", title: str = "", date: str = "") -> str:
        link = f"{self.origin.url(f'/page/{number}')}{query}".replace("&", "&amp;")
        name = title or f"{WORDS[number % len(WORDS)]} watch bitcoin number {number}"
        identity = f"<guid isPermaLink='false'>{guid}</guid>" if guid else ""
        time = f"<pubDate>{date}</pubDate>" if date else ""
        return f"<item><title>{name}</title><link>{link}</link>{identity}{time}</item>"


@pytest.fixture(name="open_service")
def _open_service(start: StartRuntime) -> Iterator[Callable[..., Service]]:
    with local_origin() as origin:

        def open_service(**variables: str) -> Service:
            settings = {
                "NEWS_FEEDS": f"{origin.url('/feed')},{origin.serve('/other', RSS.format('Other', ''))}",
                "ALLOW_PRIVATE_HOSTS": origin.address,
                "ADMIN_TOKEN": TOKEN,
                "RETRY_DELAY_S": "3600",
                **variables,
            }
            return Service(
                start("--no-cache", *CONFIGS, *(f"--var={name}={value}" for name, value in settings.items())), origin
            )

        yield open_service


def test_stored_news(open_service: Callable[..., Service]):
    """An older list, feeds that name their items anew, a corrupt index, an edited checkpoint, and one more older list."""
    service = open_service(MAX_ARTICLES_PER_RUN="50")
    adopt_older_list(service, range(30), own=0)
    list_items_anew(service)
    tell_titles_apart(service)
    break_index(service, '{"broken')
    break_index(service, json.dumps([service.list_ids()[3], 5]))
    remove_from_try_later(service)
    adopt_older_list(service, range(30, 40), own=len(service.list_ids()))


def legacy_entry(number: int, link: str, *, is_done: bool) -> dict[str, Any]:
    done = (
        {"sentiment": "positive", "aiSummary": "A summary.", "processedAt": 5} if is_done else {"needsSentiment": True}
    )
    title = f"{WORDS[number % 10]} and old bitcoin {number}"
    return {"article_id": f"old-{number}", "title": title, "link": link, **done}


def adopt_older_list(service: Service, numbers: range, own: int) -> None:
    """It is adopted, beside an index or not: all of it is served, and the unfinished is finished."""
    service.serve_pages(numbers)
    entries = [legacy_entry(n, service.origin.url(f"/page/{n}"), is_done=n % 2 == 0) for n in numbers]
    service.put("BTC_ANALYZED_NEWS", json.dumps({"articles": [*entries, 5, {"title": "none"}]}))
    old = {entry["article_id"] for entry in entries}
    if own:
        # The state object looks for it with each update.
        service.run(UPDATER)
    else:
        assert set(service.list_ids()) == old
        service.run(PROCESSOR)
        assert set(service.list_ids()) == old
    service.run_until_idle()
    assert set(service.list_ids()) >= old
    assert len(service.list_ids()) == own + len(old)
    assert old <= set(service.read("BTC_CHECKPOINT")["processedIds"])
    assert all(service.read(f"article:{name}")["aiSummary"] for name in old)
    assert service.find_log("legacy.adopted")[-1]["articles"] == len(old)
    assert service.find_log("legacy.skipped")[-1]["entries"] == 2
    assert service.count_kv(lambda: service.run(PROCESSOR), PROCESSOR) == (2, 0)


def list_items_anew(service: Service) -> None:
    """Other ids, other tracking or another query each time: the items are added once, and each page is read once."""
    before = len(service.list_ids())
    service.serve_pages(range(100, 103))
    added = []
    for time in range(4):
        session, tracking = f"?session={time}&s=1", "?story=7"
        service.serve_pages(range(103, 106), session)
        service.serve_pages(range(106, 109), tracking)
        items = [
            *(service.item(n, guid=f"{n}-{time}") for n in range(100, 103)),
            *(service.item(n, query=session, guid=f"q{n}-{time}") for n in range(103, 106)),
            *(service.item(n, query=f"{tracking}&utm_campaign={time}") for n in range(106, 109)),
        ]
        service.serve_feed(*items)
        added.append(service.collect())
    assert added == [9, 0, 0, 0]
    assert len([seen for seen in service.origin.seen if seen.path.startswith("/page/10")]) == 9
    # An older list does not vanish when there is news.
    assert len(service.list_ids()) == before + 9


def tell_titles_apart(service: Service) -> None:
    """One title of two outlets is two articles, and so are two links with another id in their query."""
    service.serve_pages([120, 121])
    service.serve_pages([122], "?p=1")
    service.serve_pages([122], "?p=2")
    service.serve_feed(
        service.item(120, title="One title"),
        service.item(122, query="?p=1", title="Bitcoin is one"),
        service.item(122, query="?p=2", title="Bitcoin is two"),
    )
    service.serve_feed(service.item(121, title="One title"), path="/other", title="Other")
    assert service.collect() == 4
    service.serve_feed(path="/other", title="Other")


def break_index(service: Service, broken: str) -> None:
    """All articles are still served after the next one; the index is rebuilt, the broken one kept, and an alert logged."""
    before = service.list_ids()
    number = 130 + len(before)
    service.serve_pages([number])
    service.put("BTC_ID_INDEX", broken)
    service.serve_feed(service.item(number))
    service.run(UPDATER)
    assert service.list_ids() == before
    service.run_until_idle()
    assert service.list_ids()[1:] == before
    assert service.read("BTC_ID_INDEX") == service.list_ids()
    assert service.get("BTC_ID_INDEX_CORRUPT") == broken
    assert service.find_log("index.corrupt")[-1]["alert"] == "the index of articles was rebuilt"


def remove_from_try_later(service: Service) -> None:
    """An article that the operator removes is not fetched again, and is complete; the other one waits on."""
    service.serve_feed(service.item(900), service.item(901))
    service.collect()
    checkpoint = service.read("BTC_CHECKPOINT")
    removed, kept = checkpoint["tryLater"]
    before = service.origin.count("/page/900") + service.origin.count("/page/901")
    service.put("BTC_CHECKPOINT", json.dumps({**checkpoint, "tryLater": [kept]}))
    assert [service.collect() for _ in range(2)] == [0, 0]
    after = service.read("BTC_CHECKPOINT")
    assert removed["id"] in after["processedIds"]
    assert [entry["id"] for entry in after["tryLater"]] == [kept["id"]]
    assert service.origin.count("/page/900") + service.origin.count("/page/901") == before
    assert [entry["id"] for entry in service.read("BTC_PENDING_LIST")] == [kept["id"]]
    assert service.read(f"article:{removed['id']}")["summaryError"] == "removed_from_try_later"


def test_one_stage_in_a_run(open_service: Callable[..., Service]):
    """The operations of runs, and a feed that lists more than the index and the pending list hold."""
    service = open_service(MAX_STORED_ARTICLES="4", MAX_PENDING_LIST_SIZE="5")
    count_operations(service)
    list_more_than_is_stored(service)


def count_operations(service: Service) -> None:
    """Runs make the documented reads and writes, and worker-api three writes more for a stage; an idle run reads twice."""
    service.serve_pages([0, 1])
    service.serve_feed()
    idle = service.count_kv(lambda: service.run(PROCESSOR), PROCESSOR)
    service.serve_feed(service.item(0))
    update = service.count_kv(lambda: service.run(UPDATER), UPDATER)
    stages = [service.count_kv(lambda: service.run(PROCESSOR), PROCESSOR) for _ in range(STAGES)]
    assert (idle, update, stages) == ((2, 0), (2, 1), [(3, 4), (2, 3), (2, 3)])
    service.serve_feed(service.item(0), service.item(1))
    service.run(UPDATER)
    writes = [service.count_kv(lambda: service.run(PROCESSOR), PROCESSOR, API)[1] for _ in range(STAGES)]
    assert writes == [7, 6, 6]


def list_more_than_is_stored(service: Service) -> None:
    """Each item is processed once, and those that are too old never."""
    numbers = range(200, 218)
    service.serve_pages([*numbers, 300, 301])
    old = (datetime.now(UTC) - timedelta(days=40)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    service.serve_feed(*(service.item(n) for n in numbers), *(service.item(n, date=old) for n in (300, 301)))
    added = [service.collect() for _ in range(7)]
    assert (sum(added), added[-2:]) == (len(numbers), [0, 0])
    assert service.run(UPDATER)["tooOld"] == 2
    assert [service.origin.count(f"/page/{n}") for n in (*numbers, 300, 301)] == [1] * len(numbers) + [0] * 2
