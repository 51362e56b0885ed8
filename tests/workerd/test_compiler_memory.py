"""The heap of adblock-compiler: whatever is asked for, it stays below 100 MB, of the 128 that the platform gives."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime, until
from sluice.services.compiler.limits.memory import MAX_PUBLISHED_BYTES, estimate_text_bytes
from workerd.conftest import StartRuntime
from workerd.made_lists import DEFAULT_LISTS
from workerd.origin import Origin, local_origin

WORKER = "adblock-compiler"
MAX_HEAP_BYTES = 100_000_000
TOKEN = "the-operators-token"
TRANSFORMATIONS = ["RemoveComments", "Compress", "Validate", "Deduplicate", "TrimLines", "RemoveEmptyLines"]


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin, tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """The deployed Worker with its own config, but for the entry, which also reports the heap."""
    folder = tmp_path_factory.mktemp("worker")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("sluice", "__pycache__"))
    shutil.copy(ROOT / "scripts/measure/service_worker/heap_worker.py", folder / "src")
    shutil.copytree(ROOT / "migrations", folder / "migrations")
    config = (
        (ROOT / "wrangler.toml")
        .read_text()
        .replace('"build/adblock-compiler/python/compiler_worker.py"', '"src/heap_worker.py"', 1)
    )
    (folder / "wrangler.toml").write_text(config)
    variables = (
        f"--var=ALLOW_PRIVATE_HOSTS={origin.address}",
        "--var=RATE_LIMIT_MAX_REQUESTS=100000",
        f"--var=ADMIN_TOKEN={TOKEN}",
    )
    return start("--config", str(folder / "wrangler.toml"), *variables)


def post(service: Runtime, path: str, body: Any, **headers: str) -> httpx.Response:
    """Post on a connection of its own: a long compilation lets idle ones drop."""
    return httpx.post(f"{service.url}{path}", json=body, headers=headers, timeout=PATIENCE_S)


def heap_bytes(service: Runtime) -> int:
    return int(httpx.get(f"{service.url}/bench/heap", timeout=PATIENCE_S).text)


def count_objects(service: Runtime) -> dict[str, int]:
    """Return how many objects of each type the interpreter holds."""
    return dict(httpx.get(f"{service.url}/bench/objects", timeout=PATIENCE_S).json())


def make_hosts(count: int, mark: str) -> str:
    return "\n".join(f"0.0.0.0 track{number}.{mark}{number // 5}.net" for number in range(count))


def configuration(url: str, name: str) -> dict[str, Any]:
    return {"name": name, "sources": [{"source": url}], "transformations": TRANSFORMATIONS}


def test_heap_stays_below_the_limit(service: Runtime, origin: Origin):
    """Six large lists in one batch, large bodies, a report, small lists meanwhile, and the largest list that is allowed."""
    urls = [origin.serve(f"/large{number}", make_hosts(60_000, f"n{number}")) for number in range(6)]
    items = [{"id": str(n), "configuration": configuration(url, f"L{n}")} for n, url in enumerate(urls)]
    batch = post(service, "/compile/batch", {"requests": items})
    assert [result["success"] for result in batch.json()["results"]] == [True] * 6
    del batch
    heap = {"six in a batch": heap_bytes(service)}
    for what, text in {"wide": "\U0001f600" + make_hosts(25_000, "wide"), "body": make_hosts(75_000, "body")}.items():
        sent = {"configuration": configuration("mine", what), "preFetchedContent": {"mine": text}}
        assert post(service, "/compile", sent).status_code == 200
        heap[what] = heap_bytes(service)
    reported = {"configuration": configuration(origin.serve("/reported", make_hosts(45_000, "r")), "R"), "report": True}
    assert post(service, "/compile", reported).status_code == 200
    heap["report"] = heap_bytes(service)
    largest = {"configuration": configuration(origin.serve("/largest", make_hosts(240_000, "x")), "largest")}
    small = [
        {"configuration": configuration(origin.serve(f"/small{n}", make_hosts(3000, f"s{n}")), f"S{n}")}
        for n in range(6)
    ]
    with ThreadPoolExecutor(7) as pool:
        replies = list(pool.map(lambda body: post(service, "/compile", body), [largest, *small]))
    assert [reply.status_code for reply in replies] == [200] * 7
    del replies
    heap["largest beside small ones"] = heap_bytes(service)
    # Again, now beside its previous version.
    with httpx.stream("POST", f"{service.url}/compile/stream", json=largest, timeout=PATIENCE_S) as stream:
        assert b"event: done" in b"".join(stream.iter_raw())[-200:]
    heap["largest again"] = heap_bytes(service)
    print("", *(f"{size / 1e6:6.1f} MB after {what}" for what, size in heap.items()), sep="\n")  # noqa: T201 - its output is the point
    assert max(heap.values()) <= MAX_HEAP_BYTES, heap


def test_too_large_list_is_refused(service: Runtime, origin: Origin):
    """A list over the limit is refused with the way out, and leaves the heap as it was."""
    url = origin.serve("/too-large", make_hosts(300_000, "y"))
    for _ in range(3):
        refused = post(service, "/compile", {"configuration": configuration(url, "too large")})
        assert refused.status_code == 413
        assert "split the list" in refused.json()["error"]
    assert heap_bytes(service) <= MAX_HEAP_BYTES


def test_wide_lists(service: Runtime, origin: Origin):
    """Lists that are as wide as they may be: in one line, in many, in all of them, or in one that is as long as is allowed."""
    rule = "||ads.some-name.example^$third-party"
    texts = {
        "a default list with an emoji": DEFAULT_LISTS[-1].write().decode(),
        "an emoji in 100 lines": (f"{rule}\n" * 99 + "! \U0001f600\n") * 1_700,
        "Cyrillic comments": f"! Комментарий к списку\n{rule}\n" * 105_000,
        "long lines": "".join(f"{at}.example##.{'x' * 2_400}\n" for at in range(3_900)) + "! \U0001f600\n",
        "a long wide line": f"||{'a' * 1_150_000}\U0001f600^\n||b.example^\n",
        "a long line": f"||{'a' * 4_700_000}^\n||b.example^\n",
        "no line end": "||a.example" * 105_000 + "\U0001f600",
    }
    heap: dict[str, int] = {}
    for at, (what, text) in enumerate(texts.items()):
        url = origin.serve(f"/wide{at}", text)
        for transformations in ([], TRANSFORMATIONS):
            body = {"configuration": configuration(url, what) | {"transformations": transformations}}
            assert post(service, "/compile", body).status_code == 200, what
        heap[what] = heap_bytes(service)
    sent = {
        "configuration": configuration("mine", "sent"),
        "preFetchedContent": {"mine": f"\U0001f600{rule}\n" * 12_000},
    }
    assert post(service, "/compile", sent).status_code == 200
    heap["sent"] = heap_bytes(service)
    print("", *(f"{size / 1e6:6.1f} MB after {what}" for what, size in heap.items()), sep="\n")  # noqa: T201 - its output is the point
    assert max(heap.values()) <= MAX_HEAP_BYTES, heap


def test_largest_published_list(service: Runtime, origin: Origin):
    """A list that is as large as is allowed, on top of all that: its first version, and a second one with its patch."""
    count = 80_000
    texts = [make_hosts(count, f"p{part}") for part in range(4)]
    assert 0.96 * MAX_PUBLISHED_BYTES < sum(estimate_text_bytes(text.encode()) for text in texts) < MAX_PUBLISHED_BYTES
    urls = [origin.serve(f"/part{part}", text) for part, text in enumerate(texts)]
    more = {"sources": [{"source": url} for url in urls], "neverBlock": ["example.org"]}
    body: dict[str, Any] = {"configuration": configuration(urls[0], "Largest") | more, "formats": ["hosts"]}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    build = httpx.put(f"{service.url}/lists/largest", json=body, headers=headers, timeout=PATIENCE_S).json()
    assert wait_for_build(service, build["buildId"])["ruleCount"] == 4 * count
    heap = {"first version": heap_bytes(service)}
    body["description"] = "Another text, and so another version."
    build = httpx.put(f"{service.url}/lists/largest", json=body, headers=headers, timeout=PATIENCE_S).json()
    assert wait_for_build(service, build["buildId"])["version"] == 2
    heap["second version"] = heap_bytes(service)
    print("", *(f"{size / 1e6:6.1f} MB after the {what}" for what, size in heap.items()), sep="\n")  # noqa: T201 - its output is the point
    assert max(heap.values()) <= MAX_HEAP_BYTES, heap


def wait_for_build(service: Runtime, build_id: str) -> dict[str, Any]:
    def look() -> Any:
        try:
            facts = httpx.get(f"{service.url}/lists/largest", timeout=PATIENCE_S).json()
        except httpx.TransportError:
            return None  # workerd drops connections while the Worker computes
        last = facts.get("lastBuild") or {}
        return facts if last.get("id") == build_id and last["endedAt"] else None

    facts: dict[str, Any] = until(look, 4 * PATIENCE_S)
    assert facts["lastBuild"]["outcome"] == "published", facts
    return facts


def test_hits_leave_nothing_behind(service: Runtime, origin: Origin):
    """What Python makes for a hit ends with it: no proxy or timer of JavaScript holds it for a collection of garbage."""
    body = {"configuration": configuration(origin.serve("/hit", make_hosts(10, "hit")), "H")}
    count = 50

    def ask_often() -> None:
        with httpx.Client(base_url=service.url, timeout=PATIENCE_S) as client:
            assert {client.post("/compile", json=body).headers["x-cache"] for _ in range(count)} == {"HIT"}

    assert post(service, "/compile", body).headers["x-cache"] == "MISS"
    ask_often()
    before = count_objects(service)
    ask_often()
    after = count_objects(service)
    assert {
        name: after[name] - before.get(name, 0) for name in after if after[name] - before.get(name, 0) >= count
    } == {}
