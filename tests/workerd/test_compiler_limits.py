"""The limits of a list in the real Worker: every path refuses what is beyond them as the caller's fault, and takes what is not."""

import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, Runtime, until
from sluice.services.compiler.cron import WARMING_CRON
from workerd.conftest import StartRuntime
from workerd.made_lists import DEFAULT_LISTS
from workerd.origin import Answer, Origin, local_origin
from workerd.socket_client import dialled

WORKER = "adblock-compiler"
TOKEN = "the-operators-token"
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
LIST = "||ads.example^\n"
# What the platform says when something that one request has opened is used in another one.
FOREIGN = "on behalf of a different request"


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        origin.serve("/hook", Answer(status=204))
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    warmed = [
        configuration(origin.serve(f"/{made.name}", Answer(made.write())), name=made.name) for made in DEFAULT_LISTS
    ]
    variables = {
        "ALLOW_PRIVATE_HOSTS": origin.address,
        "RATE_LIMIT_MAX_REQUESTS": "100000",
        "ADMIN_TOKEN": TOKEN,
        "ALERT_WEBHOOK_URL": origin.url("/hook"),
        "WARM_CONFIGURATIONS": json.dumps(warmed),
    }
    return start("--only", WORKER, *(f"--var={name}={value}" for name, value in variables.items()))


@pytest.fixture(name="client")
def _client(service: Runtime) -> Iterator[httpx.Client]:
    with service.client(WORKER) as client:
        yield client


def configuration(*urls: str, name: str = "T") -> dict[str, Any]:
    sources = [{"source": url.replace(" ", "%20")} for url in urls]
    return {"name": name, "sources": sources, "transformations": ["Deduplicate", "RemoveEmptyLines", "TrimLines"]}


def make_large(size: int, prefix: str) -> str:
    rule = f"||{prefix}.example^\n"
    return rule + "! {}\n".format("x" * 97) * ((size - len(rule)) // 100)


def wait(client: httpx.Client, path: str, *states: str) -> dict[str, Any]:
    """Return what the path replies as soon as its status is one of these."""

    def look() -> Any:
        try:
            told = client.get(path).json()
        except httpx.TransportError:
            return None  # workerd drops connections while a Worker computes
        return told if told.get("status") in states else None

    found: dict[str, Any] = until(look)
    return found


def wait_for_build(client: httpx.Client, name: str, build_id: str) -> dict[str, Any]:
    def look() -> Any:
        try:
            facts = client.get(f"/lists/{name}").json()
        except httpx.TransportError:
            return None
        last = facts.get("lastBuild") or {}
        return facts if last.get("id") == build_id and last["endedAt"] else None

    facts: dict[str, Any] = until(look)
    return facts


def make_too_large(origin: Origin, kind: str, name: str) -> list[str]:
    """Return the sources of a list that is beyond one of the limits."""
    match kind:
        case "together":
            texts = [make_large(4_000_000, f"{name}{part}") for part in range(3)]
        case "one":
            texts = [LIST, make_large(10_100_000, name)]
        case "lines":
            texts = ["".join(f"{part}{line}.io\n" for line in range(220_000)) for part in "ab"]
        case _:
            texts = [f"||{'a' * 90}\U0001f600{line}.io^\n" for line in range(2)]
            texts = [text * 40_000 for text in texts]
    return [origin.serve(f"/{name}-{part}", text) for part, text in enumerate(texts)]


REASONS = {
    "together": "all sources together are larger than 10,000,000 bytes",
    "one": "it is larger than 10,000,000 bytes, the limit for one source",
    "lines": "lines: split the list",
    "memory": "24,000,000 bytes of memory as text",
}


@pytest.mark.parametrize("kind", ["together", "one", "lines", "memory"])
def test_too_large_for_the_caller(client: httpx.Client, origin: Origin, name: str, kind: str):
    """A list beyond a limit is a 413 with the limit."""
    body = {"configuration": configuration(*make_too_large(origin, kind, name))}
    reply = client.post("/compile", json=body)
    assert (reply.status_code, reply.headers["content-type"]) == (413, "application/problem+json")
    problem = reply.json()
    assert problem["title"] == "Content too large"
    assert REASONS[kind] in problem["detail"] or "bytes of memory" in problem["detail"]


def test_too_large_on_every_path(client: httpx.Client, service: Runtime, origin: Origin, name: str):
    """The same on all other paths: the reply, the event or the job says so, and nothing is tried again."""
    urls = make_too_large(origin, "together", name)
    body = {"configuration": configuration(*urls)}
    reason = REASONS["together"]
    [item] = client.post("/compile/batch", json={"requests": [{"id": "a", **body}]}).json()["results"]
    assert (item["success"], item["status"], reason in item["error"]) == (False, 413, True)
    events = client.post("/compile/stream", json=body).text
    assert events.rstrip().rsplit("event: ", 1)[1].startswith("error")
    assert json.loads(events.rstrip().rsplit("data: ", 1)[1])["status"] == 413
    with dialled(service.url, f"{WORKER}.localhost", "/ws/compile") as line:
        line.compile("s", body["configuration"])
        [failed] = line.hear_until("compile:error")[-1:]
        assert (failed["details"]["status"], failed["details"]["retryable"]) == (413, False)
    before = {url: origin.count(f"/{name}-{part}") for part, url in enumerate(urls)}
    request_id = client.post("/compile/async", json=body).json()["requestId"]
    failed_job = wait(client, f"/queue/results/{request_id}", "failed", "completed")
    assert (failed_job["status"], failed_job["jobInfo"]["attempts"]) == ("failed", 1)
    assert reason in failed_job["error"]
    workflow_id = client.post("/workflow/compile", json=body).json()["workflowId"]
    output = wait(client, f"/workflow/status/compilation/{workflow_id}", "complete")["output"]
    assert (output["success"], output["failedStep"]) == (False, "compile-sources")
    assert reason in output["error"]
    batch_id = client.post("/workflow/batch", json={"requests": [{"id": "a", **body}]}).json()["workflowId"]
    [result] = wait(client, f"/workflow/status/batch-compilation/{batch_id}", "complete")["output"]["results"]
    assert (result["success"], reason in result["error"]) == (False, True)
    counts = [origin.count(f"/{name}-{part}") - before[url] for part, url in enumerate(urls)]
    assert max(counts) <= 3 * 2  # once on each path; a large download may have to wait for its turn, and begins again


def test_sent_content_too_large(client: httpx.Client):
    """Content in the request is limited too, as the same fault."""
    text = "".join(f"||{line}.example^\n" for line in range(120_000))
    reply = client.post("/compile", json={"configuration": configuration("mine"), "preFetchedContent": {"mine": text}})
    assert (reply.status_code, "8,000,000 bytes of memory" in reply.text) == (413, True)


def test_download_that_a_limit_stops(client: httpx.Client, service: Runtime, origin: Origin, name: str):
    """Downloads that are stopped end within their own request: later ones, and collected garbage, find nothing to end."""
    urls = [origin.serve(f"/{name}-{part}", Answer(endless=True)) for part in range(6)]

    def compile_endless(url: str) -> int:
        with service.client(WORKER) as own:
            return own.post("/compile", json={"configuration": configuration(url)}).status_code

    good = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    for _ in range(3):
        with ThreadPoolExecutor(len(urls)) as pool:
            assert set(pool.map(compile_endless, urls)) == {413}
        # It collects garbage before it compiles.
        assert client.put(f"/lists/{name}?dryRun=1", json=good, headers=ADMIN).status_code == 200
    large = json.dumps({"configuration": "x" * 5_000_000})
    headers = {"Content-Type": "application/json"}
    assert client.post("/compile", content=iter([large.encode()]), headers=headers).status_code == 413
    assert client.put(f"/lists/{name}?dryRun=1", json=good, headers=ADMIN).status_code == 200
    assert [line for line in service.lines if FOREIGN in line] == []


def test_published_list_beyond_a_limit(client: httpx.Client, origin: Origin, name: str):
    """The operator is told the sum and the limit, nothing is published in part, and what is served stays."""
    urls = [origin.serve(f"/{name}-{part}", make_large(3_700_000, f"p{part}")) for part in range(8)]
    body = {"configuration": configuration(*urls)}
    for query in ("", "?dryRun=1"):
        reply = client.put(f"/lists/{name}{query}", json=body, headers=ADMIN)
        assert (reply.status_code, reply.headers["content-type"]) == (413, "application/problem+json")
        assert "all sources together have 29,5" in reply.json()["detail"]
        assert "the limit is 10,000,000" in reply.json()["detail"]
    assert client.get(f"/lists/{name}").status_code == 404
    for url in urls:
        origin.serve(url.removeprefix(origin.url("")), make_large(1_200_000, url[-1]))
    accepted = client.put(f"/lists/{name}", json=body, headers=ADMIN)
    assert accepted.status_code == 201, accepted.text
    facts = wait_for_build(client, name, accepted.json()["buildId"])
    assert (facts["version"], facts["state"], facts["ruleCount"]) == (1, "fresh", 8)
    served = client.get(f"/lists/{name}.txt").text
    origin.serve(f"/{name}-0", make_large(3_700_000, "grown"))
    rebuilt = client.post(f"/lists/{name}/rebuild", headers=ADMIN).json()
    facts = wait_for_build(client, name, rebuilt["buildId"])
    assert (facts["version"], facts["state"], facts["lastBuild"]["outcome"]) == (1, "failed", "failed")
    assert "and the limit is 10,000,000" in facts["reason"]
    assert client.get(f"/lists/{name}.txt").text == served
    alerts = [json.loads(request.body) for request in origin.requests("/hook")]
    assert [alert["reason"] for alert in alerts if alert["list"] == name] == [facts["reason"]]


def test_first_build_beyond_a_limit(client: httpx.Client, origin: Origin, name: str):
    """A source that grows between the PUT and the build: no version appears, and the address answers 503."""
    url = origin.serve(f"/{name}", Answer(LIST.encode()), Answer(make_large(10_200_000, "b").encode()))
    body = {"configuration": configuration(origin.serve(f"/{name}-other", LIST), url)}
    accepted = client.put(f"/lists/{name}", json=body, headers=ADMIN).json()
    facts = wait_for_build(client, name, accepted["buildId"])
    assert (facts["version"], facts["state"]) == (0, "failed")
    assert "the limit for one source" in facts["reason"]
    assert client.get(f"/lists/{name}.txt").status_code == 503


def test_default_lists(client: httpx.Client, origin: Origin):
    """Lists as large and as mixed as those that are warmed by default compile on every path, and as a published list."""
    for made in DEFAULT_LISTS:
        url = origin.url(f"/{made.name}").replace(" ", "%20")
        origin.serve(f"/{made.name}".replace(" ", "%20"), Answer(made.write()))
        body = {"configuration": configuration(url, name=f"{made.name}, again")}
        reply = client.post("/compile", json=body)
        assert reply.status_code == 200, reply.text[:300]
        assert reply.json()["ruleCount"] == made.lines
        short = "".join(letter for letter in made.name.lower() if letter.isalpha())
        accepted = client.put(f"/lists/{short}", json=body, headers=ADMIN)
        assert accepted.status_code == 201, accepted.text
        facts = wait_for_build(client, short, accepted.json()["buildId"])
        assert (facts["state"], facts["ruleCount"]) == ("fresh", made.lines)
    largest = {"configuration": configuration(url, name="Another name")}
    request_id = client.post("/compile/async", json=largest).json()["requestId"]
    done = wait(client, f"/queue/results/{request_id}", "completed", "failed")
    assert done["status"] == "completed", done
    workflow_id = client.post("/workflow/compile", json=largest).json()["workflowId"]
    output = wait(client, f"/workflow/status/compilation/{workflow_id}", "complete")["output"]
    assert output["success"], output


def test_default_lists_are_warmed(client: httpx.Client, service: Runtime, origin: Origin):
    """The cron of every six hours compiles all of them."""
    for made in DEFAULT_LISTS:
        origin.serve(f"/{made.name}".replace(" ", "%20"), Answer(made.write()))
    query = {"worker": WORKER, "cron": WARMING_CRON, "time": "1800000000000"}
    httpx.get(f"{service.url}/cdn-cgi/handler/scheduled", params=query, timeout=PATIENCE_S).raise_for_status()
    told = wait(client, "/workflow/status/cache-warming/cache-warm-scheduled-1800000000000", "complete")
    output = told["output"]
    assert (output["success"], output["warmed"], output["failed"]) == (True, len(DEFAULT_LISTS), 0), output
    assert [result["ruleCount"] for result in output["results"]] == [made.lines for made in DEFAULT_LISTS]


@pytest.mark.parametrize("form", ["gzip", "UTF-16", "BOM", "CR", "one emoji in 100 lines", "Cyrillic", "one long line"])
def test_forms_of_text(client: httpx.Client, origin: Origin, name: str, form: str):
    """What a host may send: packed, in another charset, with other line ends, wide here and there or everywhere."""
    rules = [f"||{name}{line}.example^" for line in range(60_000)]
    comments = {"one emoji in 100 lines": "! \U0001f600", "Cyrillic": "! Комментарий"}
    if comment := comments.get(form):
        rules[::100] = [f"{comment} {line}" for line in range(600)]
    if form == "one long line":
        rules[0] = f"||{'a' * 700_000}\U0001f600^"
    text = ("\r" if form == "CR" else "\n").join(rules)
    content = {
        "gzip": gzip.compress(text.encode()),
        "UTF-16": text.encode("utf-16"),
        "BOM": text.encode("utf-8-sig"),
    }.get(form, text.encode())
    url = origin.serve(f"/{name}", Answer(content))
    reply = client.post("/compile", json={"configuration": configuration(url)}, headers={"Accept": "text/plain"})
    assert reply.status_code == 200, reply.text[:300]
    header = ("! Checksum", "! Title", "! Last modified", "! Compiled", "! Source", "! Homepage", "! Description")
    compiled = [line for line in reply.text.split("\n") if line not in {"", "!"} and not line.startswith(header)]
    assert compiled == rules
