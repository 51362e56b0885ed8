"""The local cache in front of a Worker does what Cloudflare's documentation promises of Workers Cache, and no more."""

import json
import subprocess
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime
from workerd.conftest import PROBE, StartRuntime

# `ask` answers with the status of the cache, the body and the age; `replies` is what the Worker says next, the last for ever.
HEAD = """
import { ResponseCache, isCacheable } from "./scripts/local/response_cache.mjs";
let now = 0, runs = [], deferred = [], replies = [];
const cache = new ResponseCache(() => now * 1000);
const origin = async (request) => {
  runs.push([request.method, Object.fromEntries(request.headers)]);
  const [body, headers, status = 200] = replies.length > 1 ? replies.shift() : replies[0];
  return new Response(body, { status, headers });
};
const ask = async (path = "/", options = {}) => {
  const request = new Request("http://worker.test" + path, options);
  const reply = await cache.fetch(request, origin, (promise) => deferred.push(promise));
  return [reply.headers.get("Cf-Cache-Status"), await reply.text(), reply.headers.get("Age"), reply.status];
};
const PUBLIC = { "Cache-Control": "public, max-age=60", "Cache-Tag": "news,Page" };
const seen = [];
"""


def run(script: str) -> Any:
    """Return what the script leaves in `seen`, and how often the Worker ran."""
    command = ["node_modules/.bin/node", "--input-type=module", "-e"]
    tail = "process.stdout.write(JSON.stringify([seen, runs]));"
    done = subprocess.run(
        [*command, HEAD + script + tail], cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_fresh_copy_answers_alone():
    """Within max-age the Worker does not run; after it the Worker runs again."""
    seen, runs = run("""
replies = [["one", PUBLIC], ["two", PUBLIC]];
for (now of [0, 59, 60, 61]) seen.push(await ask());
""")
    assert seen == [
        ["MISS", "one", "0", 200],
        ["HIT", "one", "59", 200],
        ["EXPIRED", "two", "0", 200],
        ["HIT", "two", "1", 200],
    ]
    assert len(runs) == 2


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Cache-Control": "private, no-store"}, 200),
        ({"Cache-Control": "public, max-age=60, no-store"}, 200),
        ({"Cache-Control": "max-age=60, private"}, 200),
        ({}, 200),
        ({"Cache-Control": "public"}, 200),
        ({"Cache-Control": "public, max-age=60", "Set-Cookie": "a=b"}, 200),
        ({"Cache-Control": "public, max-age=60", "Vary": "*"}, 200),
        ({"Cache-Control": "public, max-age=60"}, 500),
        ({"Cache-Control": "public, max-age=60"}, 206),
    ],
)
def test_what_does_not_say_so_is_not_kept(headers: dict[str, str], status: int):
    """A reply is kept only if it says for how long, is for everybody, whole and no failure."""
    seen, _ = run(f"replies = [['x', {json.dumps(headers)}, {status}]]; seen.push(await ask(), await ask());")
    assert [status for status, *_ in seen] == ["BYPASS", "BYPASS"]


def test_requests_that_are_not_cacheable():
    """A request with credentials, for a part, for an upgrade, or that changes something never gets a copy."""
    seen, _ = run("""
const make = (options) => isCacheable(new Request("http://worker.test/", options));
seen.push(make({}), make({ method: "HEAD" }), make({ method: "POST" }), make({ headers: { Authorization: "Bearer x" } }));
seen.push(make({ headers: { Range: "bytes=0-1" } }), make({ headers: { Cookie: "a=b" } }));
""")
    assert seen == [True, True, False, False, False, True]


def test_the_key_is_path_and_query():
    """The query and its order count, the host does not, and HEAD shares the copy of GET."""
    seen, runs = run("""
replies = [["x", PUBLIC]];
for (const path of ["/a", "/a?b=1&c=2", "/a?c=2&b=1", "/a?b=1&c=2"]) seen.push((await ask(path))[0]);
seen.push((await ask("/a", { method: "HEAD" })).slice(0, 2), (await ask("/new", { method: "HEAD" })).slice(0, 2), (await ask("/new"))[0]);
""")
    assert seen == ["MISS", "MISS", "MISS", "HIT", ["HIT", ""], ["MISS", ""], "HIT"]
    assert {method for method, _ in runs} == {"GET"}


def test_vary():
    """A copy answers only requests with the same values of the headers that the reply names."""
    seen, _ = run("""
const varied = { ...PUBLIC, Vary: "Accept, Origin" };
replies = [["json", varied], ["text", varied]];
const accept = (value) => ask("/", { headers: { Accept: value } });
for (const value of ["application/json", "text/plain", "application/json", "text/plain"]) seen.push((await accept(value)).slice(0, 2));
""")
    assert seen == [["MISS", "json"], ["MISS", "text"], ["HIT", "json"], ["HIT", "text"]]


def test_simultaneous_misses_run_the_worker_once():
    """Requests that come while the Worker makes a copy wait for it; if there is none, each runs the Worker itself."""
    seen, runs = run("""
replies = [["x", PUBLIC]];
seen.push((await Promise.all([ask(), ask(), ask()])).map(([status]) => status));
replies = [["mine", {}]];
seen.push((await Promise.all([ask("/own"), ask("/own"), ask("/own")])).map(([status]) => status));
""")
    assert seen == [["MISS", "HIT", "HIT"], ["BYPASS", "MISS", "MISS"]]
    assert len(runs) == 1 + 3


def test_stale_while_revalidate():
    """A stale copy answers within the time that the reply allows, while one request fetches the new one."""
    seen, runs = run("""
replies = [["one", { "Cache-Control": "public, max-age=60, stale-while-revalidate=300" }], ["two", PUBLIC]];
seen.push((await ask())[1]);
now = 100;
seen.push(...(await Promise.all([ask(), ask()])).map((found) => found.slice(0, 2)));
await Promise.all(deferred);
seen.push((await ask()).slice(0, 2));
now = 1000;
seen.push((await ask()).slice(0, 2));
""")
    assert seen == ["one", ["UPDATING", "one"], ["UPDATING", "one"], ["HIT", "two"], ["EXPIRED", "two"]]
    assert len(runs) == 3


def test_a_copy_is_confirmed_by_its_etag():
    """An old copy is checked with its ETag; a 304 makes it fresh again, and the visitor's own condition is answered."""
    seen, runs = run("""
const tagged = { ...PUBLIC, ETag: '"v1"' };
replies = [["one", tagged], [null, tagged, 304]];
seen.push((await ask())[0]);
now = 100;
seen.push((await ask()).slice(0, 3));
const mine = { headers: { "If-None-Match": 'W/"v1", "v0"' } };
seen.push((await ask("/", mine)).slice(0, 2), (await ask("/", mine))[3], (await ask("/", { headers: { "If-None-Match": '"v0"' } }))[3]);
""")
    assert seen == ["MISS", ["REVALIDATED", "one", "0"], ["HIT", ""], 304, 200]
    assert [headers.get("if-none-match") for _, headers in runs] == [None, '"v1"']


def test_purge():
    """A purge removes by tag without regard to case, by path or everything; a copy in the making is not kept."""
    seen, _ = run("""
replies = [["x", PUBLIC]];
const fill = async () => { for (const path of ["/a/1", "/b/1"]) await ask(path); };
const look = async () => seen.push([(await ask("/a/1"))[0], (await ask("/b/1"))[0]]);
await fill(); cache.purge({ tags: ["other"] }); await look();
cache.purge({ tags: ["PAGE"] }); await look();
cache.purge({ pathPrefixes: ["/a/"] }); await look();
cache.purge({ purgeEverything: true }); await look();
const making = ask("/c"); cache.purge({ tags: ["news"] }); await making; seen.push((await ask("/c"))[0]);
""")
    assert seen == [["HIT", "HIT"], ["MISS", "MISS"], ["MISS", "HIT"], ["MISS", "MISS"], "MISS"]


def test_what_is_kept_is_bounded():
    """The oldest copy goes when there are too many."""
    seen, _ = run("""
replies = [["x", PUBLIC]];
for (let n = 0; n < 1001; n += 1) await ask("/" + n);
seen.push((await ask("/1"))[0], (await ask("/0"))[0]);
""")
    assert seen == ["HIT", "MISS"]


@pytest.fixture(name="cached", scope="module")
def _cached(start: StartRuntime) -> Runtime:
    return start("--config", str(PROBE / "wrangler.contract.toml"))


def count_run(runtime: Runtime, **headers: str) -> httpx.Response:
    """Ask for the page that counts how often its Worker ran."""
    return httpx.get(f"{runtime.url}/counted", headers=headers, timeout=PATIENCE_S)


def test_a_hit_runs_no_python(cached: Runtime):
    """The second visitor gets the same count, compressed as the Worker sent it; one with credentials gets a new count."""
    first, second = count_run(cached), count_run(cached)
    assert (first.headers["Cf-Cache-Status"], second.headers["Cf-Cache-Status"]) == ("MISS", "HIT")
    assert (first.text, second.headers["Content-Encoding"]) == (second.text, "gzip")
    assert count_run(cached, Authorization="Bearer x").text != first.text


def test_no_cache(start: StartRuntime):
    """With --no-cache every request runs the Worker."""
    runtime = start("--config", str(PROBE / "wrangler.contract.toml"), "--no-cache")
    assert count_run(runtime).text != count_run(runtime).text
