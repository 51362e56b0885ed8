"""The signed API and the operator's API, in workerd: what is admitted, what is refused, and that nothing is done twice."""

import json
import random
import secrets
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, Runtime, until
from sluice.core.preload.request_signing import compute_signature, sign_request
from workerd.preload_site import ADMIN, API, KEY, Page, Service, Site, site

PATH = "/api/v1/preload"


@pytest.fixture(name="place")
def _place(preload: Runtime, name: str) -> Iterator[tuple[Service, Site]]:
    with site() as (control, address):
        service = Service(preload, address, name)
        service.register()
        service.admin("POST", "pause")
        with service.standing_clock():
            yield service, control
        service.retire()


def body_of(service: Service, *paths: str, **more: Any) -> dict[str, Any]:
    urls = [service.site_url + path for path in paths or ("/a",)]
    return {"zone_id": service.zone, "idempotency_key": f"preload-{uuid.uuid4()}", "urls": urls, **more}


def test_accepted(place: tuple[Service, Site]):
    """202 with the documented fields."""
    service, _ = place
    reply = service.post_signed(PATH, body_of(service, "/a", "/b"))
    assert reply.status_code == 202
    accepted = reply.json()
    assert accepted.pop("preload_batch_id").startswith("preload-")
    assert accepted == {"status": "accepted", "enqueued": 2, "queue_depth": 2}


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"urls": ["https://other.example/"]}, "urls[0]"),
        ({"urls": ["http://127.0.0.1:1/"]}, "urls[0]"),
        ({"urls": ["http://169.254.169.254/"]}, "urls[0]"),
        ({"urls": ["http://[::1]/", "http://localhost/", "http://10.0.0.1.nip.io/"]}, "urls[0]"),
        ({"urls": []}, "urls"),
        ({"priority": 101}, "priority"),
        ({"trigger": "other"}, "trigger"),
        ({"idempotency_key": "x"}, "idempotency_key"),
    ],
)
def test_invalid(place: tuple[Service, Site], more: dict[str, Any], path: str):
    """400 names the field."""
    service, _ = place
    reply = service.post_signed(PATH, body_of(service) | more)
    assert (reply.status_code, reply.json()["errors"][0]["path"]) == (400, path)
    assert reply.headers["Content-Type"] == "application/problem+json"


def test_limits(place: tuple[Service, Site]):
    """More than 100 URLs are 400, a body beyond the limit is 413, another type is 415."""
    service, _ = place
    assert service.post_signed(PATH, body_of(service, *(f"/{n}" for n in range(101)))).status_code == 400
    assert service.post_signed(PATH, body_of(service) | {"pad": "x" * 300_000}).status_code == 413
    content = json.dumps(body_of(service)).encode()
    headers = sign_request(KEY, "POST", PATH, content, now=service.now, nonce=secrets.token_hex(16))
    reply = httpx.post(service.runtime.url + PATH, content=content, headers=headers | API, timeout=PATIENCE_S)
    assert reply.status_code == 415


def test_unknown_zone(place: tuple[Service, Site]):
    """An unregistered zone is 404 for a caller who can sign, and 401 for one who cannot."""
    service, _ = place
    assert service.post_signed(PATH, body_of(service, zone_id="nobody")).status_code == 404
    assert service.post_signed(PATH, body_of(service, zone_id="nobody"), key="wrong").status_code == 401


def test_idempotency(place: tuple[Service, Site]):
    """The same key and body get the first reply again; another body is 409."""
    service, _ = place
    body = body_of(service)
    first, again = service.post_signed(PATH, body), service.post_signed(PATH, body)
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert again.headers["X-Idempotent-Replayed"] == "true"
    assert service.post_signed(PATH, body | {"priority": 5}).status_code == 409


def test_replays_at_once(place: tuple[Service, Site]):
    """Of 20 copies of one signed request sent at the same time, one is accepted."""
    service, _ = place
    content = json.dumps(body_of(service)).encode()
    headers = sign_request(KEY, "POST", PATH, content, now=service.now, nonce=secrets.token_hex(16))
    headers |= API | {"Content-Type": "application/json"}
    with ThreadPoolExecutor(20) as pool:
        sent = [
            pool.submit(httpx.post, service.runtime.url + PATH, content=content, headers=headers, timeout=PATIENCE_S)
            for _ in range(20)
        ]
    assert Counter(each.result().status_code for each in sent) == {202: 1, 409: 19}


def test_mutations(place: tuple[Service, Site]):
    """Of some hundred changed requests not one is accepted."""
    service, _ = place
    draw = random.Random(5)
    statuses: Counter[int] = Counter()
    for number in range(140):
        content = json.dumps(body_of(service)).encode()
        headers = sign_request(KEY, "POST", PATH, content, now=service.now, nonce=secrets.token_hex(16))
        path, method = PATH, "POST"
        match number % 7:
            case 0:
                at = draw.randrange(len(content))
                content = content[:at] + bytes([content[at] ^ (1 << draw.randrange(7))]) + content[at + 1 :]
            case 1:
                path = draw.choice(
                    [f"{PATH}?a=1", f"{PATH}/", "/api/v1/purge", "/api/v1/%70reload", "//api/v1/preload"]
                )
            case 2:
                method = draw.choice(["PUT", "GET", "DELETE", "PATCH"])
            case 3:
                headers["X-Timestamp"] = str(int(headers["X-Timestamp"]) + draw.choice([-301, -1, 1, 31]))
            case 4:
                headers["X-Nonce"] = secrets.token_hex(16)
            case 5:
                headers["X-Signature"] = headers["X-Signature"][::-1]
            case _:
                del headers[draw.choice(list(headers))]
        sent = API | headers | {"Content-Type": "application/json"}
        url = service.runtime.url + path
        statuses[httpx.request(method, url, content=content, headers=sent, timeout=PATIENCE_S).status_code] += 1
    assert set(statuses) <= {401, 404, 405}
    assert service.ask("status")["queue_depth"] == 0


def test_rate_limit(place: tuple[Service, Site]):
    """Beyond 60 global purges in an hour: 429 with Retry-After."""
    service, _ = place

    def purge() -> httpx.Response:
        body = {"zone_id": service.zone, "idempotency_key": f"purge-{uuid.uuid4()}", "global": True}
        return service.post_signed("/api/v1/purge", body)

    assert [purge().status_code for _ in range(60)] == [202] * 60
    refused = purge()
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 60


def test_rights_of_a_site(place: tuple[Service, Site]):
    """A site signs its sitemap, its pages, its own settings and what it looks at; a wrong signature opens none of them."""
    service, _ = place
    zone, key = f"/api/v1/zones/{service.zone}", str(uuid.uuid4())
    page = {"url": f"{service.site_url}/a", "post_id": 7}
    purge_id = service.purge(tags=["post:1"])["purge_id"]
    requests: list[tuple[str, str, dict[str, Any] | None, int]] = [
        ("POST", "sitemap", {"idempotency_key": f"sitemap-{key}"}, 202),
        ("PUT", "pages", {"idempotency_key": f"pages-{key}", "pages": [page]}, 200),
        ("PUT", "agent", {"idempotency_key": f"agent-{key}", "origin_cron_path": "/timers?now"}, 200),
        ("GET", "status", None, 200),
        ("GET", f"purges/{purge_id}", None, 200),
    ]
    for method, path, body, status in requests:
        assert service.send_signed(method, f"{zone}/{path}", body, key="wrong" * 4).status_code == 401
        reply = service.send_signed(method, f"{zone}/{path}", body)
        assert (reply.status_code, "X-Idempotent-Replayed" in reply.headers) == (status, False), reply.text
        if body:
            again = service.send_signed(method, f"{zone}/{path}", body)
            assert (again.json(), again.headers["X-Idempotent-Replayed"]) == (reply.json(), "true")
    assert service.send_signed("PUT", f"{zone}/config", {"site_url": "https://example.com"}).status_code == 401
    assert service.ask("config")["config"]["origin_cron_path"] == "/timers?now"


def test_timers_of_a_site(place: tuple[Service, Site]):
    """The minute's cron asks the origin for the site's timers, with a proof that only the zone's key can make."""
    service, control = place
    service.register(origin_cron_path="/timers?now")
    service.tick()
    [request] = [each for each in control.requests if each.path == "/timers?now"]
    timestamp, signature = (part.partition("=")[2] for part in request.headers["x-sluice-proxy"].split(","))
    host = service.site_url.removeprefix("http://")
    assert signature == compute_signature(KEY, f"proxy\n{host}\nhttp\n\n{timestamp}")


def test_operator(place: tuple[Service, Site]):
    """The operator's API needs the operator's token; a zone in a private network is refused unless it is allowed."""
    service, _ = place
    url = "/api/v1/zones"
    with service.client as client:
        assert client.get(f"{url}/{service.zone}/status").status_code == 401
        assert service.zone in client.get(url, headers=ADMIN).json()["zones"]
        check_private_networks(client, url)


def check_private_networks(client: httpx.Client, url: str) -> None:
    for field, config in (
        ("site_url", {"site_url": "http://192.168.1.1"}),
        ("site_url", {"site_url": "http://localhost:80"}),
        ("hosts[0]", {"site_url": "https://example.com", "hosts": ["127.0.0.1.nip.io"]}),
        ("origin_url", {"site_url": "https://example.com", "origin_url": "http://metadata.internal"}),
        ("preload_rps_limit", {"site_url": "https://example.com", "preload_rps_limit": "many"}),
    ):
        reply = client.put(f"{url}/another/config", json=config, headers=ADMIN)
        assert (reply.status_code, reply.json()["errors"][0]["path"]) == (400, field)
    assert client.get(f"{url}/another/status", headers=ADMIN).status_code == 404


def test_many_writers(place: tuple[Service, Site]):
    """20 clients enqueue 50 pages each at the same time: 1,000 entries, in the object and in the mirror."""
    service, _ = place

    def client(number: int) -> int:
        paths = [f"/{number}/{page}" for page in range(50)]
        return int(service.preload(*paths)["enqueued"])

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(client, range(20))) == 1000
    assert service.ask("status")["queue_depth"] == 1000
    service.tick()
    key = f"/cdn-cgi/explorer/api/storage/kv/namespaces/preload/values/preload-queue:{service.zone}"

    def read_mirror() -> Any:
        return httpx.get(service.runtime.url + key, timeout=PATIENCE_S).json()

    mirror = until(lambda: len(entries := read_mirror()) == 1000 and entries)
    assert len({entry["url"] for entry in mirror}) == 1000
    assert set(mirror[0]) == {"url", "priority", "enqueued_at", "trigger", "post_id", "attempt"}


def test_purge_invalid(place: tuple[Service, Site]):
    """A purge must name what it purges."""
    service, control = place
    control.pages["/a"] = Page()
    key = f"purge-{uuid.uuid4()}"
    for more in (
        {},
        {"tags": ["a b"]},
        {"tags": [f"post:{n}" for n in range(31)]},
        {"urls": ["https://other.example/"]},
    ):
        reply = service.post_signed("/api/v1/purge", {"zone_id": service.zone, "idempotency_key": key, **more})
        assert reply.status_code == 400
