"""Published lists in the real Worker: an incident replayed, power cuts, addresses as clients use them, patches and clients."""

import gzip
import json
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from ports import find_free_port
from resolvers import ask, serving, start_dnsmasq, start_unbound, upstream
from runtime import Runtime, until
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

WORKER = "adblock-compiler"
TOKEN = "the-operators-token"
StartServer = Callable[[Path, Path, int, int], tuple[str, ...]]
ADMIN = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        origin.serve("/hook", Answer(status=204))
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    declared = {"declared": {"configuration": {"name": "D", "sources": [{"source": origin.url("/declared")}]}}}
    variables = {
        "ALLOW_PRIVATE_HOSTS": origin.address,
        "ADMIN_TOKEN": TOKEN,
        "ALERT_WEBHOOK_URL": origin.url("/hook"),
        "LIST_SOURCE_TIMEOUT_S": "1",
        "PUBLISHED_LISTS": json.dumps(declared),
    }
    return start("--only", WORKER, *(f"--var={name}={value}" for name, value in variables.items()))


@pytest.fixture(name="client")
def _client(service: Runtime) -> Iterator[httpx.Client]:
    with service.client(WORKER) as client:
        yield client


def make_list(count: int, prefix: str = "ads") -> str:
    return "".join(f"||{prefix}{at}.example^\n" for at in range(count))


def put(client: httpx.Client, name: str, *urls: str, **more: Any) -> str:
    configuration = {"name": f"List {name}", "sources": [{"source": url} for url in urls]}
    reply = client.put(f"/lists/{name}", json={"configuration": configuration, **more}, headers=ADMIN)
    assert reply.status_code in {201, 202}, reply.text
    return str(reply.json()["buildId"])


def wait_for(client: httpx.Client, name: str, build_id: str) -> dict[str, Any]:
    """Return the facts of the list as soon as the build has ended."""

    def look() -> Any:
        try:
            facts = client.get(f"/lists/{name}").json()
        except httpx.RemoteProtocolError:
            return None  # workerd drops idle connections while a Worker computes
        last = facts.get("lastBuild") or {}
        return facts if last.get("id") == build_id and last["endedAt"] else None

    facts: dict[str, Any] = until(look)
    return facts


def publish(client: httpx.Client, name: str, *urls: str, **more: Any) -> dict[str, Any]:
    return wait_for(client, name, put(client, name, *urls, **more))


def rebuild(client: httpx.Client, name: str) -> dict[str, Any]:
    reply = client.post(f"/lists/{name}/rebuild", headers=ADMIN)
    assert reply.status_code == 202, reply.text
    return wait_for(client, name, reply.json()["buildId"])


def rules_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.startswith("!")]


def test_addresses(client: httpx.Client, origin: Origin):
    """What clients send and accept: ETag and Last-Modified, 304, HEAD, gzip for those who ask, any query, CORS."""
    source = origin.serve("/plain?key=secret", make_list(2000))
    facts = publish(client, "plain", source, formats=["hosts", "sing-box"])
    assert facts["lastBuild"]["outcome"] == "published", facts
    assert (facts["version"], facts["state"], facts["ruleCount"]) == (1, "fresh", 2000)
    assert "secret" not in json.dumps(facts)
    assert [row["format"] for row in facts["formats"]] == ["adblock", "hosts", "sing-box"]
    paths = [urlsplit(row["url"]).path for row in facts["formats"]]
    assert [client.get(path).status_code for path in paths] == [200, 200, 200]
    reply = client.get("/lists/plain.txt?_=7", headers={"Origin": "https://page.example"})
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert reply.headers["content-encoding"] == "gzip"
    assert reply.headers["vary"] == "Accept-Encoding"
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "stale-while-revalidate=" in reply.headers["cache-control"]
    assert len(rules_of(reply.text)) == 2000
    with client.stream("GET", "/lists/plain.txt") as raw:
        assert gzip.decompress(b"".join(raw.iter_raw())) == reply.content
    plain = client.get("/lists/plain.txt", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.content == reply.content
    assert not plain.headers["etag"].startswith("W/")
    for tag in (plain.headers["etag"], reply.headers["etag"]):
        assert client.get("/lists/plain.txt", headers={"If-None-Match": tag}).status_code == 304
    modified = reply.headers["last-modified"]
    assert client.get("/lists/plain.txt", headers={"If-Modified-Since": modified}).status_code == 304
    assert client.get("/lists/plain.txt", headers={"If-None-Match": '"other"'}).status_code == 200
    head = client.head("/lists/plain.txt")
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", reply.headers["etag"])
    assert client.get("/lists/plain.sing-box").headers["content-type"] == "application/json"
    assert client.get("/lists/plain.dnsmasq").status_code == 404
    assert client.get("/lists/nothing.txt").status_code == 404


def test_never_built(client: httpx.Client, origin: Origin):
    """While there is nothing to serve, the address answers 503 with Retry-After."""
    facts = publish(client, "empty", origin.serve("/empty", Answer(status=404)))
    assert (facts["state"], facts["lastBuild"]["outcome"], facts["version"]) == ("failed", "failed", 0)
    reply = client.get("/lists/empty.txt")
    assert reply.status_code == 503
    assert int(reply.headers["retry-after"]) > 0


def test_operators_only(client: httpx.Client, origin: Origin):
    """Strangers change nothing; bad bodies and names are refused; a declared list belongs to the repository."""
    source = origin.serve("/ours", make_list(3))
    body = {"configuration": {"name": "O", "sources": [{"source": source}]}}
    for method, path in (("PUT", "ours"), ("DELETE", "ours"), ("POST", "ours/rebuild"), ("POST", "ours/rollback")):
        assert client.request(method, f"/lists/{path}", json=body).status_code in {401, 403}
    bad = client.put("/lists/ours", json={**body, "other": 1}, headers=ADMIN)
    assert (bad.status_code, bad.json()["errors"][0]["path"]) == (400, "other")
    for name in ("patches", "A", "a-", "x" * 65):
        assert client.put(f"/lists/{name}", json=body, headers=ADMIN).status_code == 400
    dry = client.put("/lists/ours?dryRun=1", json=body, headers=ADMIN).json()
    assert (len(dry["added"]), dry["removed"], dry["sources"][0]["state"]) == (3, [], "ok")
    assert client.get("/lists/ours").status_code == 404
    assert client.put("/lists/declared", json=body, headers=ADMIN).status_code == 409
    assert client.delete("/lists/declared", headers=ADMIN).status_code == 409
    origin.serve("/declared", make_list(4))
    assert rebuild(client, "declared")["ruleCount"] == 4
    assert "declared" in [row["name"] for row in client.get("/lists").json()["lists"]]
    publish(client, "ours", source)
    assert client.delete("/lists/ours", headers=ADMIN).status_code == 204
    assert client.get("/lists/ours.txt").status_code == 404
    assert client.get("/lists/ours").status_code == 404


def test_incident(client: httpx.Client, origin: Origin):
    """Over twenty rebuilds a source fails in every way: the list never loses it; one alert and one recovery are sent."""
    good, never = make_list(200), threading.Event()
    failures = [
        Answer(b"404: Not Found", 404),
        Answer(b"<!DOCTYPE html><html><title>Just a moment...</title></html>", 403),
        Answer(b"This account has been suspended.\n"),
        Answer(b""),
        Answer(make_list(2).encode()),
        Answer(good.encode(), gate=never),
        Answer(good.encode(), drop=True),
    ]
    source, other = origin.serve("/incident", good), origin.serve("/steady", make_list(10, "steady"))
    publish(client, "incident", source, other)
    before = origin.count("/hook", "POST")
    for at in range(20):
        origin.serve("/incident", failures[at % len(failures)])
        facts = rebuild(client, "incident")
        assert facts["state"] == "degraded", facts
        assert facts["sources"][0]["state"] == "last-good"
        text = client.get("/lists/incident.txt").text
        assert len(rules_of(text)) == 210
        assert "! State: degraded\n" in text
    never.set()
    assert facts["version"] == 2
    origin.serve("/incident", good)
    assert rebuild(client, "incident")["state"] == "fresh"
    assert "! State: fresh\n" in client.get("/lists/incident.txt").text
    until(lambda: origin.count("/hook", "POST") >= before + 2)
    alerts = [json.loads(seen.body) for seen in origin.requests("/hook")]
    assert [each["type"] for each in alerts if each["list"] == "incident"] == ["list-degraded", "list-recovered"]


def test_questions(client: httpx.Client, origin: Origin):
    """Versions, differences, why, overlap and rollback."""
    one, two = origin.serve("/one", make_list(5)), origin.serve("/two", make_list(3) + "||tracker.example^\n")
    publish(client, "asked", one, two)
    origin.serve("/one", make_list(6))
    assert rebuild(client, "asked")["version"] == 2
    versions = client.get("/lists/asked/versions").json()["versions"]
    assert [row["version"] for row in versions] == [2, 1]
    changes = client.get("/lists/asked/diff", params={"from": 1, "to": 2}).json()
    assert changes == {"added": ["||ads5.example^"], "removed": []}
    assert client.get("/lists/asked/diff", params={"from": 1, "to": 9}).status_code == 404
    assert client.get("/lists/asked/diff", params={"from": "x", "to": 1}).status_code == 400
    why = client.get("/lists/asked/why", params={"domain": "a.tracker.example"}).json()
    assert why == {
        "verdict": "blocked",
        "rule": "||tracker.example^",
        "sources": [{"source": two, "file": two, "line": 4}],
    }
    overlap = client.get("/lists/asked/overlap").json()
    assert [(row["unique"], row["shared"]) for row in overlap["sources"]] == [(3, 3), (1, 3)]
    reply = client.post("/lists/asked/rollback", json={"version": 1}, headers=ADMIN)
    facts = wait_for(client, "asked", reply.json()["buildId"])
    assert facts["version"] == 3
    assert "||ads5.example^" not in client.get("/lists/asked.txt").text


BLOCKED = ("tree.example", "a.tree.example", "host.example", "exact.example")
OPEN = ("open.tree.example", "a.host.example", "goodtree.example", "a.exact.example", "other.example")


@pytest.mark.parametrize(("name", "start_server"), [("dnsmasq", start_dnsmasq), ("unbound", start_unbound)])
def test_name_servers(client: httpx.Client, origin: Origin, tmp_path: Path, name: str, start_server: StartServer):
    """A real name server that is started with the file from an address blocks what the list blocks, and nothing else."""
    rules = "||tree.example^\n@@||open.tree.example^\n0.0.0.0 host.example\n|exact.example^\n"
    publish(client, "served", origin.serve("/served", rules), formats=["dnsmasq", "unbound"])
    path = tmp_path / f"{name}.list"
    path.write_bytes(client.get(f"/lists/served.{name}").raise_for_status().content)
    with upstream() as upstream_port:
        port = find_free_port()
        with serving(*start_server(tmp_path, path, port, upstream_port)):
            answers = {host: ask(port, host) for host in (*BLOCKED, *OPEN)}
    assert answers == {**dict.fromkeys(BLOCKED, "blocked"), **dict.fromkeys(OPEN, "open")}


def test_waiting_rebuilds(client: httpx.Client, origin: Origin):
    """A rebuild that is asked for while one runs waits behind it and has its own id."""
    gate = threading.Event()
    source = origin.serve("/held", make_list(3))
    publish(client, "held", source)
    origin.serve("/held", Answer(make_list(4).encode(), gate=gate), Answer(make_list(5).encode()))
    ids = [client.post("/lists/held/rebuild", headers=ADMIN).json()["buildId"] for _ in range(2)]
    assert len(set(ids)) == 2
    gate.set()
    assert wait_for(client, "held", ids[1])["lastBuild"]["outcome"] in {"published", "unchanged"}
    assert len(rules_of(client.get("/lists/held.txt").text)) == 5


def test_power_cuts(start: StartRuntime, origin: Origin):
    """Killed four times while it rebuilds: every address answers with a complete old or new version after each restart."""
    source = origin.serve("/cut", make_list(3000))
    variables = [f"ALLOW_PRIVATE_HOSTS={origin.address}", f"ADMIN_TOKEN={TOKEN}"]
    runtime = start("--only", WORKER, *(f"--var={each}" for each in variables))
    moments = random.Random(1)
    with runtime.client(WORKER) as client:
        publish(client, "cut", source, formats=["hosts"])
    for turn in range(4):
        size = 3001 + turn
        origin.serve("/cut", make_list(size))
        with runtime.client(WORKER) as client:
            build_id = client.post("/lists/cut/rebuild", headers=ADMIN).json()["buildId"]
            until(lambda: client.get("/lists/cut").json()["lastBuild"]["id"] == build_id)  # noqa: B023 - used at once
            threading.Event().wait(moments.random())
        runtime.kill()
        runtime.start()
        with runtime.client(WORKER) as client:
            for address, sign in (("cut.txt", "||"), ("cut.hosts", "0.0.0.0 ")):
                text = client.get(f"/lists/{address}").text
                assert text.count(f"\n{sign}") in {size - 1, size}, address
            facts = wait_for(client, "cut", build_id)
            assert (facts["version"], facts["lastBuild"]["outcome"]) == (turn + 2, "published")
            assert len(rules_of(client.get("/lists/cut.txt").text)) == size
