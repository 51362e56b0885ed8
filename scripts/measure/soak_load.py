"""The mixed load of ./scripts/bench soak: what strangers, operators, a site, its visitors and readers of news do."""

import random
import time
import uuid
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final
from urllib.parse import quote

import httpx

from runtime import until
from soak_checks import Accepted, Articles, Findings, ListAddress, PageFloors, Work, count_rules, read_outcome
from soak_clients import ADMIN, Clients
from soak_sources import PAGES, Kind, Sources

COMPILER: Final = "adblock-compiler.localhost"
PRELOAD: Final = "edge-preload.localhost"
NEWS: Final = "worker-api.localhost"
SITE_HOST: Final = "soak-site.test"
ZONE: Final = "soak"
LISTS: Final[Mapping[str, tuple[str, ...]]] = {"first": ("alpha", "beta"), "second": ("beta", "gamma")}
EXTENSIONS: Final = ("txt", "hosts")
STEADY: Final = 4
TRANSFORMATIONS: Final = ["RemoveComments", "Compress", "Validate", "Deduplicate"]
WORKFLOWS: Final = {
    "compile": "compilation",
    "batch": "batch-compilation",
    "cache-warm": "cache-warming",
    "health-check": "health-monitoring",
}
_TERMINAL: Final = ("workflow:completed", "workflow:failed")
_STAGES: Final = 3  # of an article
_LOOKS: Final = 4  # at what waits, in one turn

Task = tuple[str, float, Callable[[], None]]  # its name, how often in seconds, and what it does


def configure(*sources: str, name: str) -> dict[str, Any]:
    listed = [{"source": source} for source in sources]
    return {"name": name, "sources": listed, "transformations": TRANSFORMATIONS}


def run_cron(clients: Clients, worker: str, expression: str, needs: Kind | None = None) -> None:
    query = f"worker={worker}&cron={quote(expression)}&time={round(time.time() * 1000)}"
    clients.send(f"{worker}.localhost", "GET", f"/cdn-cgi/handler/scheduled?{query}", needs=needs)
    clients.findings.count(f"crons: {worker}")


class CompilerLoad:
    """Hits and misses, jobs and workflows, published lists whose sources change."""

    def __init__(self, clients: Clients, sources: Sources, draw: random.Random) -> None:
        self._clients, self._sources, self._draw = clients, sources, draw
        self._findings: Findings = clients.findings
        self._numbers = count()
        self.accepted = Accepted(self._findings)
        self.jobs = 0
        self._addresses = [
            ListAddress(f"/lists/{name}.{extension}", LISTS[name], self._findings)
            for name in LISTS
            for extension in EXTENSIONS
        ]

    def tasks(self) -> list[Task]:
        return [
            ("compile a list that is cached", 1.5, self.compile_again),
            ("compile a list that is not", 4, self.compile_anew),
            ("submit a job", 5, self.submit_job),
            ("start a workflow", 12, self.start_workflow),
            ("rebuild a list", 10, self.rebuild),
            ("read lists", 1.5, self.read_lists),
            ("run the compiler's crons", 90, self.run_crons),
        ]

    def closing_tasks(self) -> list[Task]:
        """Return what goes on until everything has ended."""
        return [("look at jobs, workflows and builds", 1.5, self.look)]

    def publish(self) -> None:
        """Publish the lists, and wait for their first versions: without one an address answers 503."""
        for name, sources in LISTS.items():
            own = [self._sources.url(f"/lists/{source}") for source in sources]
            body = {"configuration": configure(*own, name=f"List {name}"), "formats": ["hosts"]}
            reply = self._clients.send(COMPILER, "PUT", f"/lists/{name}", body=body, headers=ADMIN)
            if reply is None or reply.status_code not in {201, 202}:
                raise SystemExit(f"The list {name} cannot be published: {reply and reply.text}")
            self._add_build(reply)
        for name in LISTS:
            until(lambda: self._find_version(name))  # noqa: B023 - used at once

    def _find_version(self, name: str) -> int:
        reply = self._clients.send(COMPILER, "GET", f"/lists/{name}")
        return int(reply.json()["version"]) if reply is not None and reply.status_code == 200 else 0

    def compile_again(self) -> None:
        source = self._sources.url(f"/steady/steady{'abcdefgh'[self._draw.randrange(STEADY)]}")
        reply = self._compile(configure(source, name="Steady"), needs=None)
        if reply is not None and reply.status_code == 200:
            self._findings.count(f"compiles: {reply.headers.get('X-Cache', 'without X-Cache')}")
            if reply.json()["ruleCount"] != count_rules(1):
                self._findings.report("soak", f"A compiled list has {reply.json()['ruleCount']} rules.")

    def compile_anew(self) -> None:
        source = self._sources.url("/lists/delta")
        reply = self._compile(configure(source, name=f"Anew {next(self._numbers)}"), needs="lists")
        if reply is not None and reply.status_code == 200:
            self._findings.count(f"compiles: {reply.headers.get('X-Cache', 'without X-Cache')}")

    def _compile(self, configuration: dict[str, Any], needs: Kind | None) -> httpx.Response | None:
        return self._clients.send(COMPILER, "POST", "/compile", body={"configuration": configuration}, needs=needs)

    def _make(self) -> dict[str, Any]:
        source = self._sources.url(f"/lists/{self._draw.choice(('delta', 'epsilon'))}")
        return configure(source, name=f"Work {next(self._numbers)}")

    def _make_requests(self, n: int) -> dict[str, Any]:
        return {"requests": [{"id": str(at), "configuration": self._make()} for at in range(n)]}

    def submit_job(self) -> None:
        if not self.accepted.has_room:
            return
        is_batch = self._draw.random() < 0.2
        path = "/compile/batch/async" if is_batch else "/compile/async"
        body = self._make_requests(3) if is_batch else {"configuration": self._make()}
        if (reply := self._submit(path, body)) is None:
            return
        self.jobs += 1
        request_id = reply.json()["requestId"]
        kind = "batch of jobs" if is_batch else "job"
        self.accepted.add(Work(kind, request_id, f"/queue/results/{request_id}", time.monotonic()))

    def start_workflow(self) -> None:
        if not self.accepted.has_room:
            return
        name = self._draw.choice(list(WORKFLOWS))
        if (reply := self._submit(f"/workflow/{name}", self._make_workflow(name))) is None:
            return
        workflow_id = reply.json()["workflowId"]
        place = f"/workflow/status/{WORKFLOWS[name]}/{workflow_id}"
        self.accepted.add(Work(f"workflow {name}", workflow_id, place, time.monotonic()))

    def _make_workflow(self, name: str) -> dict[str, Any]:
        match name:
            case "compile":
                return {"configuration": self._make()}
            case "batch":
                return self._make_requests(3)
            case "cache-warm":
                return {"configurations": [self._make(), self._make()]}
            case _:
                source = {"name": "delta", "url": self._sources.url("/lists/delta"), "expectedMinRules": 1}
                return {"sources": [source]}

    def _submit(self, path: str, body: Any) -> httpx.Response | None:
        """Return the reply of a request that was accepted; however often it is repeated, it is one."""
        headers = {**ADMIN, "Idempotency-Key": f"soak-{uuid.uuid4()}"}
        reply = self._clients.send_until_answered(
            lambda: self._clients.send(COMPILER, "POST", path, body=body, headers=headers)
        )
        if reply is not None and reply.status_code != 202:
            self._findings.report("soak", f"POST {path} answered {reply.status_code}: {reply.text[:200]}")
            return None
        return reply

    def rebuild(self) -> None:
        """Let a source change, and build a list of it anew; a build may also be under way, or its sources be down."""
        name = self._draw.choice(list(LISTS))
        source = self._draw.choice(LISTS[name])
        self._sources.list_editions[source] = self._sources.list_editions.get(source, 1) + 1
        if self.accepted.has_room and (reply := self._submit(f"/lists/{name}/rebuild", None)) is not None:
            self._add_build(reply)

    def _add_build(self, reply: httpx.Response) -> None:
        build_id = reply.json()["buildId"]
        # While a build waits to begin, another request is answered with the same one.
        if not self.accepted.knows(build_id):
            place = f"/workflow/status/published-list/{build_id}"
            self.accepted.add(Work("build", build_id, place, time.monotonic()))

    def read_lists(self) -> None:
        for address in self._addresses:
            reply = self._clients.send(COMPILER, "GET", address.path)
            if reply is not None and reply.status_code == 200:
                self._findings.count("published list: reads")
                address.check(reply.text)

    def look(self) -> None:
        for work in [*self.accepted.list_waiting(_LOOKS), *self.accepted.list_ended(1)]:
            reply = self._clients.send(COMPILER, "GET", work.place)
            if reply is None or reply.status_code in {429, *range(500, 600)}:
                continue
            if reply.status_code != 200:
                self._findings.report("ends", f"{work.kind} {work.id} is answered with {reply.status_code}.")
                continue
            outcome = read_outcome(work, reply.json())
            if self.accepted.see(work, outcome):
                self._look_at_end(work, reply)

    def _look_at_end(self, work: Work, reply: httpx.Response) -> None:
        if work.outcome not in {"completed", "complete", "published", "unchanged"} and not self._clients.had_fault(
            "lists", work.accepted_at
        ):
            when = self._clients.tell_time(work.accepted_at)
            self._findings.report(
                "causes", f"{when} {work.kind} {work.id} began and ended as {work.outcome}: {reply.text[:600]}"
            )
        if work.kind.startswith("workflow "):
            events = self._clients.send(COMPILER, "GET", f"/workflow/events/{work.id}")
            if events is not None and events.status_code == 200:
                ends = [each["type"] for each in events.json()["events"] if each["type"] in _TERMINAL]
                if len(ends) != 1:
                    self._findings.report("ends", f"{work.kind} {work.id} has the last events {ends}.")

    def run_crons(self) -> None:
        run_cron(self._clients, "adblock-compiler", "0 * * * *")

    def close(self) -> None:
        """Compare the number of jobs that were accepted with the service's own."""
        reply = self._clients.send(COMPILER, "GET", "/queue/stats")
        if reply is None or reply.status_code != 200:
            self._findings.report("soak", "GET /queue/stats has no answer at the end.")
            return
        stats = reply.json()
        ended = stats["completed"] + stats["failed"] + stats["cancelled"]
        if (stats["enqueued"], ended) != (self.jobs, self.jobs):
            self._findings.report(
                "ends",
                f"{self.jobs} jobs were accepted; GET /queue/stats counts {stats['enqueued']} and {ended} ended.",
            )


class SiteLoad:
    """A site that changes and purges its pages, batches of pages to warm, and visitors."""

    def __init__(self, clients: Clients, sources: Sources, draw: random.Random) -> None:
        self._clients, self._sources, self._draw = clients, sources, draw
        self._findings: Findings = clients.findings
        self._floors = PageFloors()
        self.batches = Accepted(self._findings, most=20)

    def tasks(self) -> list[Task]:
        return [
            *(("visit a page", 0.4, self.visit) for _ in range(2)),
            ("change and purge", 3, self.change_and_purge),
            ("preload pages", 10, self.preload),
            ("run the preloader's cron", 30, lambda: run_cron(self._clients, "edge-preload", "* * * * *")),
            ("look at the zone", 20, self.look_at_zone),
        ]

    def closing_tasks(self) -> list[Task]:
        return [("look at batches", 2, self.look)]

    def register(self) -> None:
        config = {
            "site_url": f"http://{SITE_HOST}",
            "origin_url": self._sources.url("").rstrip("/"),
            "preload_rps_limit": 50,
            "preload_rpm_limit": 2000,
            "preload_retry_max": 2,
            "preload_circuit_breaker_max_backoff_s": 30,
        }
        reply = self._clients.send(PRELOAD, "PUT", f"/api/v1/zones/{ZONE}/config", body=config, headers=ADMIN)
        if reply is None or reply.status_code != 200:
            raise SystemExit(f"The zone cannot be registered: {reply and reply.text}")

    def visit(self) -> None:
        page, came_at = self._draw.randrange(PAGES), time.monotonic()
        floor = self._floors.find(page, came_at)
        reply = self._clients.send(SITE_HOST, "GET", f"/page/{page}", needs="site")
        if reply is None or reply.status_code != 200:
            return
        facts = {
            name: value for name, value in reply.headers.items() if name.startswith(("x-", "age", "date", "content"))
        }
        try:
            told = reply.json()
        except ValueError:
            # What breaks off on its way from the origin to a visitor is as much the visitor's; a copy of it is a defect.
            self._findings.count("visits: broken off")
            if facts.get("x-cache") != "MISS" or not self._clients.had_fault("site", came_at):
                when = self._clients.tell_time(came_at)
                self._findings.report("pages", f"{when} /page/{page} was served as {reply.text!r}: {facts}.")
            return
        self._findings.count(f"visits: {reply.headers.get('X-Cache', 'without X-Cache')}")
        if told["page"] != page:
            self._findings.report("pages", f"/page/{page} is answered with the page {told['page']}.")
        # What was purged meanwhile promises nothing for this visit.
        if told["edition"] < floor:
            when = self._clients.tell_time(came_at)
            self._findings.report(
                "pages", f"{when} /page/{page} had the edition {told['edition']}, and not {floor} or later: {facts}."
            )

    def change_and_purge(self) -> None:
        draw = self._draw.random()
        pages = [self._draw.randrange(PAGES)] if draw < 0.9 else list(range(PAGES))
        for page in pages:
            self._sources.page_editions[page] += 1
        editions = {page: self._sources.page_editions[page] for page in pages}
        target: dict[str, Any]
        if len(pages) > 1:
            target = {"tags": ["all"]} if draw < 0.97 else {"global": True}
        else:
            target = {"tags": [f"page-{pages[0]}"]} if draw < 0.4 else {"urls": [f"http://{SITE_HOST}/page/{pages[0]}"]}
        reply = self._post_signed("purge", target)
        if reply is None:
            return
        holds_at = time.monotonic() + reply.json()["estimated_completion_ms"] / 1000
        self._findings.count("purges: acknowledged")
        for page, edition in editions.items():
            self._floors.hold(page, edition, holds_at)

    def preload(self) -> None:
        if not self.batches.has_room:
            return
        pages = self._draw.sample(range(PAGES), 5)
        reply = self._post_signed("preload", {"urls": [f"http://{SITE_HOST}/page/{page}" for page in pages]})
        if reply is not None:
            batch_id = reply.json()["preload_batch_id"]
            self.batches.add(Work("batch of pages", batch_id, f"batches/{batch_id}", time.monotonic()))

    def _post_signed(self, what: str, target: dict[str, Any]) -> httpx.Response | None:
        body = {"zone_id": ZONE, "idempotency_key": f"{what}-{uuid.uuid4()}", **target}
        path = f"/api/v1/{what}"
        reply = self._clients.send_until_answered(
            lambda: self._clients.send(PRELOAD, "POST", path, body=body, is_signed=True)
        )
        if reply is not None and reply.status_code != 202:
            self._findings.report("soak", f"POST {path} answered {reply.status_code}: {reply.text[:200]}")
            return None
        return reply

    def look(self) -> None:
        for work in [*self.batches.list_waiting(_LOOKS), *self.batches.list_ended(1)]:
            reply = self._ask(work.place)
            if reply is None:
                continue
            batch = reply.json()
            settled = sum(
                batch[name] for name in ("queued", "done", "failed", "gone", "skipped", "dropped", "cancelled")
            )
            if settled != batch["total"]:
                self._findings.report("ends", f"The counts of a batch do not add up: {batch}")
            is_finished = batch["state"] == "finished"
            lost = batch["failed"] + batch["gone"] + batch["dropped"] + batch["cancelled"]
            outcome = "finished, with failed pages" if lost else "finished"
            has_ended = self.batches.see(work, outcome if is_finished else None)
            if has_ended and lost and not self._clients.had_fault("site", work.accepted_at):
                self._findings.report("causes", f"Pages failed although the site was well: {batch}")

    def look_at_zone(self) -> None:
        for path in ("status", "traffic", "log?limit=20", "pages?limit=50", "failed"):
            self._ask(path)

    def _ask(self, path: str) -> httpx.Response | None:
        reply = self._clients.send(PRELOAD, "GET", f"/api/v1/zones/{ZONE}/{path}", headers=ADMIN)
        if reply is not None and reply.status_code not in {200, 429, *range(500, 600)}:
            self._findings.report(
                "soak", f"{path} of the zone is answered with {reply.status_code}: {reply.text[:200]}"
            )
        return reply if reply is not None and reply.status_code == 200 else None


class NewsLoad:
    """A feed that grows, the crons of the updater and the processor, and readers."""

    def __init__(self, clients: Clients, sources: Sources) -> None:
        self._clients, self._sources = clients, sources
        self._findings: Findings = clients.findings
        self.articles = Articles(self._findings)

    def open(self) -> None:
        """Bring the first article into the news: before it, they answer 503."""
        self.write()
        self._update()
        for _ in range(_STAGES):
            self._process()

    def _update(self) -> None:
        run_cron(self._clients, "worker-news-updater", "0 * * * *", "feeds")

    def _process(self) -> None:
        run_cron(self._clients, "worker-news-processor", "* * * * *", "feeds")

    def tasks(self) -> list[Task]:
        return [
            ("write an article", 12, self.write),
            ("read feeds and trends", 10, self.read_more),
            ("look at the other Workers", 20, self.look_at_workers),
        ]

    def closing_tasks(self) -> list[Task]:
        return [
            ("run the updater", 20, self._update),
            ("run the processor", 4, self._process),
            ("read the news", 4, self.read),
        ]

    def write(self) -> None:
        self._sources.articles += 1
        self.articles.write(self._sources.link(self._sources.articles))

    def read(self) -> None:
        reply = self._send("/api/bitcoin-news")
        if reply is not None and reply.status_code == 200:
            self._findings.count("articles: reads")
            self.articles.check(each["link"] for each in reply.json()["articles"])

    def read_more(self) -> None:
        for path in ("/api/v1/articles?limit=20", "/api/v1/feed.rss", "/api/v1/trending", "/status"):
            self._send(path)

    def _send(self, path: str) -> httpx.Response | None:
        return self._clients.send(NEWS, "GET", path)

    def look_at_workers(self) -> None:
        for host, path in (
            (COMPILER, "/health"),
            (COMPILER, "/metrics"),
            ("worker-news-updater.localhost", "/status"),
            ("worker-news-processor.localhost", "/status"),
            ("sluice-tail.localhost", "/logs?limit=20"),
        ):
            reply = self._clients.send(host, "GET", path, headers=ADMIN)
            if reply is not None and reply.status_code not in {200, 429, *range(500, 600)}:
                self._findings.report("soak", f"{host}{path} is answered with {reply.status_code}: {reply.text[:200]}")
