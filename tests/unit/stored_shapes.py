"""What this version stores, as plain values: the files in tests/data/stored hold what it stored when they were written.

A value that a Worker has stored is read by the next version. So a change of a name, a member or an id is made by hand:
raise the shape's version or go on reading the former one, keep a test that reads the file as it is here, and then write
the files anew:

    PYTHONPATH=src:tests .venv/bin/python -m unit.stored_shapes NAME...
"""

import asyncio
import hashlib
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from fakes.kv import FakeKV
from fakes.objects import FakeStorage
from fakes.r2 import FakeR2
from sluice.core.json_text import encode_json
from sluice.core.news.article import Article
from sluice.core.news.feeds.feed_source import FeedSource
from sluice.core.news.feeds.normalise import stable_id
from sluice.core.news.feeds.same_article import Fingerprint
from sluice.core.ports import FetchResponse
from sluice.core.preload.caching.cache_keys import bucket_key, canonical_url, edge_url, key_hash, list_variants
from sluice.core.preload.zone_config import parse_config
from sluice.platform.durable_objects import Sql
from sluice.platform.storage.d1 import D1
from sluice.services.compiler.cache.list_cache import cache_key, private_key
from sluice.services.compiler.jobs.queue_messages import BatchMessage, CompileMessage, WarmMessage
from sluice.services.compiler.requests import BatchItem
from sluice.services.compiler.workflows.params_store import ParamsStore
from sluice.services.news.collect.updater import Updater
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.preload.serving.copies import COPY
from unit.services.compiler.published.list_bench import ListBench
from unit.services.compiler.world import MIGRATIONS, configuration
from unit.services.compiler.world import World as CompilerWorld
from unit.services.compiler.world import order as compile_order
from unit.services.news.harness import NewsHarness, article
from unit.services.preload.world import SITE, ZONE, OriginReply
from unit.services.preload.world import World as PreloadWorld

FOLDER: Final = Path(__file__).parents[1] / "data/stored"
_CONTENT: Final = dict.fromkeys(("crc", "digest", "input", "parts", "size", "size_bytes", "definition_hash"), "…")
PAGES: Final = ("/", "/a", "/a/", "/B?b=2&a=1&utm_source=x", "/%7Euser/caf%c3%a9", "/a//b/../c", "/ü?q=ä%20b")
ATOM: Final = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>Feed</title>
<entry><id>tag:feed.example,2027:1</id><title>One</title><link href="https://feed.example/one?utm_source=a"/></entry>
<entry><id>https://feed.example/two</id><title>Two</title><link href="https://feed.example/two"/></entry></feed>"""
RSS: Final = b"""<rss version="2.0"><channel><title>Feed</title>
<item><guid>77</guid><title>Three</title><link>https://feed.example/three#top</link></item>
<item><guid isPermaLink="false">same</guid><title>Four</title><link>https://feed.example/four</link></item>
<item><guid isPermaLink="false">same</guid><title>Five</title><link>https://feed.example/five</link></item>
<item><title>Six</title><link>https://feed.example/six?id=6</link></item></channel></rss>"""
JSON_FEED: Final = b"""{"version": "https://jsonfeed.org/version/1.1", "title": "Feed",
"items": [{"id": "seven", "title": "Seven", "url": "https://feed.example/seven"}]}"""


def describe_tables(sql: Any) -> dict[str, list[str]]:
    """Return the columns of each table of an object."""
    tables = [str(row["name"]) for row in sql.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {
        table: [
            f"{row['name']} {row['type']}" for row in sql.rows("SELECT name, type FROM pragma_table_info(?)", table)
        ]
        for table in tables
        if not table.startswith("sqlite_")
    }


def list_kv(store: FakeKV) -> dict[str, Any]:
    """Return each value with its metadata."""
    found = {}
    for key, versions in sorted(store._history.items()):
        if entry := versions[-1][1]:
            found[key] = [_read_text(entry.value), entry.metadata and json.loads(entry.metadata)]
    return found


def list_objects(bucket: FakeR2) -> dict[str, Any]:
    """Return the metadata of each object."""
    return {key: each.customMetadata for key, each in sorted(bucket._objects.items())}


def _read_text(content: bytes) -> Any:
    if content.startswith(b"\x1f\x8b"):
        return "gzip"
    text = content.decode()
    return json.loads(text) if text[:1] in {"{", "["} else text


async def build_preload_keys() -> Any:
    plain = parse_config({"site_url": SITE})
    varied = parse_config({"site_url": SITE, "cache_device_variants": True, "cache_languages": ["de"]})
    return {
        "variants": list_variants(varied),
        "pages": {
            path: [url := canonical_url(SITE + path, plain), key_hash(url, ""), edge_url(url, "device:mobile")]
            for path in PAGES
        },
        "bucket": bucket_key(ZONE, key_hash(f"{SITE}/", "")),
    }


async def build_preload_copy() -> Any:
    """Build the metadata of a copy in R2, and its headers at the edge."""
    world = await PreloadWorld().register()
    headers = (
        ("cache-control", "max-age=600"),
        ("surrogate-key", "post:1 home"),
        ("etag", '"1"'),
        ("vary", "accept-encoding"),
    )
    world.origin.default = OriginReply(headers=(*headers, ("content-type", "text/html")))
    await world.enqueue("/a")
    await world.drain()
    [at_edge] = world.edge.stored.values()
    described = {name: json.loads(value) if name == COPY else value for name, value in at_edge.headers}
    return {
        "r2": list_objects(world.bucket),
        "edge": described,
        "index": await world.rows("SELECT * FROM cached_pages"),
        "tags": await world.rows("SELECT * FROM page_tags ORDER BY tag"),
        "page": world.sql.rows("SELECT * FROM page"),
    }


async def build_preload_zone() -> Any:
    """Build the tables of a zone's object, its values, an accepted purge, the list that isolates keep, and the mirror in KV."""
    world = await PreloadWorld(preload_retry_max=0).register()
    await world.enqueue("/a", "/b")
    world.origin.default = OriginReply(500)
    await world.ring_alarm()
    await world.enqueue("/c")
    await world.services.mirror.write()
    services = world.services
    services.agent_watch.mark_present("/?sluice=1")
    purge = {"tags": ["t"], "urls": [f"{SITE}/a"], "prefixes": [f"{SITE}/blog/"]}
    await world.zone.purge_by_hand(encode_json({**purge, "soft": True}))
    services.outbox.add_log(ZONE, f"{SITE}/a", "warmed", now=1.0, http_status=200)
    [body] = [json.loads(str(row["body"])) for row in world.sql.rows("SELECT body FROM purge")]
    state = {str(row["name"]): json.loads(str(row["value"])) for row in world.sql.rows("SELECT * FROM state")}
    store: Any = world.kv._namespace
    return {
        "tables": describe_tables(world.sql),
        "state": {name: value for name, value in state.items() if name != "config"},
        "purge": {**body, "purge_id": "", "idempotency_key": ""},
        "purges": services.marks.load().as_json(),
        "outbox": {row["kind"]: json.loads(str(row["body"])) for row in world.sql.rows("SELECT * FROM outbox")},
        "kv": list_kv(store),
    }


async def build_news_ids() -> Any:
    """Build the ids of articles: those of feeds in three formats, and those of providers."""
    feeds = {"atom": ATOM, "rss": RSS, "json": JSON_FEED}
    found = {name: await _read_feed(body) for name, body in feeds.items()}
    natives: list[object] = ["abc-1", 12, "a b", "https://e.example/x", None, "."]
    return {
        **found,
        "native": [stable_id(each, "https://e.example/x") for each in natives],
        "marks": Fingerprint.of(Article(article("a").data), seen_ms=5).as_json(),
    }


async def _read_feed(body: bytes) -> dict[str, str]:
    async def fetch(url: str, **_options: object) -> FetchResponse:
        return FetchResponse(url, 200, (), body)

    result = await FeedSource(fetch, "https://feed.example/feed").fetch_articles((), 1_800_000_000_000)
    return {each.title: each.id for each in result.articles}


async def build_news_kv() -> Any:
    """Build what the pipeline stores: the pending list, and checkpoint, index and articles when one is done and one waits."""
    news = NewsHarness(retry_delay_s=3600)
    news.source.articles = [article("a"), article("b"), article("c")]
    updater: Updater = news.updater()
    await updater.run()
    news.clock.advance(5)
    news.upstream.failures["sentiment b"] = 99
    for _ in range(6):
        await news.run_minute()
    state: Any = news.state.rows
    lock: Any = RunLock(Sql(FakeStorage()))
    return {
        "kv": list_kv(news.kv),
        "snapshot": list_kv(news.snapshot_kv),
        "state": describe_tables(state._sql),
        "lock": describe_tables(lock._sql),
    }


async def build_compiler_cache() -> Any:
    """Build the keys of lists, and a list in the cache."""
    world = CompilerWorld()
    compiled = await world.compiler.compile(compile_order())
    await world.cache.put(compiled, 3600)
    wanted = configuration(name="Liste ü", transformations=["Deduplicate"], exclusions=["a"])
    return {
        "key": cache_key(wanted),
        "private": private_key(wanted, {"benchmark": True}),
        "kv": list_kv(world.kv_fake),
    }


async def build_compiler_jobs() -> Any:
    """Build the rows of jobs of each kind, and the messages that the queue keeps."""
    world = CompilerWorld()
    wanted = configuration().model_dump(mode="json", exclude_unset=True)
    item = BatchItem(id="one", configuration=wanted)
    common: Mapping[str, Any] = {"timestamp": 1.0}
    await world.jobs.accept(CompileMessage(request_id="j1", configuration=wanted, **common))
    await world.jobs.accept(BatchMessage(request_id="j2", requests=[item], **common))
    await world.jobs.accept(WarmMessage(request_id="j3", configurations=[wanted], **common))
    rows = await world.database.all("SELECT * FROM compile_jobs ORDER BY request_id")
    store = ParamsStore(bucket=world.bucket, clock=world.clock)
    params = {"requestId": "r", "configuration": wanted, "preFetchedContent": {"https://e.example/": "x"}}
    return {
        "rows": [{**row, "message": json.loads(str(row["message"]))} for row in rows],
        "sent": [[priority, dict(body)] for priority, body in world.sent],
        "params": await store.store("w1", params),
        "objects": list_objects(world.r2_fake),
    }


async def build_compiler_lists() -> Any:
    """Build a published list: its definition, a build, a version, a good copy, and the keys of its objects."""
    bench = ListBench({"https://lists.example/a": b"||ads.example^\n||track.example^\n"})
    await bench.put("ads", "https://lists.example/a")
    await bench.run_all()
    database = D1(bench.d1)
    tables = ("published_lists", "published_builds", "published_versions", "published_copies", "published_counts")
    rows = {table: [dict(row) for row in await database.all(f"SELECT * FROM {table}")] for table in tables}  # noqa: S608
    return {
        "rows": {table: [_open_json(row) for row in found] for table, found in rows.items()},
        "objects": {key: sorted(each) for key, each in list_objects(bench.r2).items()},
    }


def _open_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose JSON can be compared."""
    return {
        name: json.loads(value) if isinstance(value, str) and value[:1] in {"{", "["} else value
        for name, value in row.items()
    }


async def build_migrations() -> Any:
    """Build the digest of each migration: one that has run is never changed."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in MIGRATIONS}


SHAPES: Final[Mapping[str, Callable[[], Awaitable[Any]]]] = {
    "compiler-cache": build_compiler_cache,
    "compiler-jobs": build_compiler_jobs,
    "compiler-lists": build_compiler_lists,
    "migrations": build_migrations,
    "news-ids": build_news_ids,
    "news-kv": build_news_kv,
    "preload-copy": build_preload_copy,
    "preload-keys": build_preload_keys,
    "preload-zone": build_preload_zone,
}


def load_stored(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


async def build_now(name: str) -> Any:
    return json.loads(json.dumps(_without_content(await SHAPES[name]())))


def _without_content(value: Any) -> Any:
    """Leave out what depends on how a list is written or compressed, which no reader depends on."""
    if isinstance(value, dict):
        return {name: _CONTENT.get(name) or _without_content(each) for name, each in value.items()}
    return [_without_content(each) for each in value] if isinstance(value, list) else value


def main() -> None:
    for name in sys.argv[1:] or SHAPES:
        text = json.dumps(asyncio.run(build_now(name)), indent=1, ensure_ascii=False, sort_keys=True)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
