"""The document's commands, as the project's wrangler spells them, against the state of the running service."""

import json
from pathlib import Path
from typing import Any

from runtime import Runtime, until
from workerd.conftest import StartRuntime
from workerd.origin import local_origin
from wrangler_process import run_wrangler

RESET = '{"currentArticleId":null,"currentArticle":null,"processedIds":[],"tryLater":[],"lastUpdate":null}'
RSS = "<rss version='2.0'><channel><title>Feed</title>{}</channel></rss>"
ITEM = "<item><title>{0} of the bitcoin news</title><link>{1}</link></item>"
KEYS = ("BTC_PENDING_LIST", "BTC_CHECKPOINT", "BTC_ID_INDEX")


def wrangler_kv(runtime: Runtime, action: str, key: str, *more: str) -> str:
    """Run `wrangler kv key ACTION KEY --binding CRYPTO_NEWS_CACHE` on the local state."""
    place = ("--binding", "CRYPTO_NEWS_CACHE")
    return run_wrangler(runtime.state, "wrangler.news-processor.toml", "kv", "key", action, key, *more, *place)


def read(runtime: Runtime, key: str) -> Any:
    return json.loads(wrangler_kv(runtime, "get", key))


def trigger(runtime: Runtime, worker: str) -> dict[str, Any]:
    """Trigger a cron, and return what its run has logged."""
    before = len(runtime.lines)
    assert runtime.cron(worker, "* * * * *").status_code == 200
    # The line may arrive after the reply.
    lines = until(lambda: [line for line in runtime.lines[before:] if '.run"' in line])
    report: dict[str, Any] = json.loads(lines[-1])
    return report


def run_all(runtime: Runtime) -> None:
    """Trigger the updater once and the processor three times; none of them waits."""
    assert trigger(runtime, "worker-news-updater")["outcome"] == "ok"
    assert [trigger(runtime, "worker-news-processor")["outcome"] for _ in range(3)] == ["ok"] * 3


def test_the_documents_commands(start: StartRuntime, tmp_path: Path):
    """Integration test, monitoring, reset and removal from try-later work as written, each at once."""
    with local_origin() as origin:
        items = "".join(ITEM.format(name, origin.url(f"/{name}")) for name in ("One", "Two"))
        origin.serve("/feed", RSS.format(items))
        variables = {"NEWS_FEEDS": origin.url("/feed"), "ALLOW_PRIVATE_HOSTS": origin.address, "RETRY_DELAY_S": "600"}
        names = "worker-news-updater,worker-news-processor,worker-api"
        runtime = start("--only", names, *(f"--var={name}={value}" for name, value in variables.items()))
        run_all(runtime)
        for key in KEYS:
            wrangler_kv(runtime, "delete", key)
        run_all(runtime)
        assert len(read(runtime, "BTC_PENDING_LIST")) == 2
        checkpoint = read(runtime, "BTC_CHECKPOINT")
        assert {"currentArticleId", "processedIds", "tryLater", "lastUpdate"} <= checkpoint.keys()
        # The pages are missing, so that an article is to be tried later.
        waiting = checkpoint["tryLater"][0]
        assert waiting["reason"].startswith("fetch_failed: the page answered 404")
        edited = tmp_path / "checkpoint.json"
        edited.write_text(json.dumps(checkpoint | {"tryLater": [], "processedIds": [waiting["id"]]}))
        wrangler_kv(runtime, "put", "BTC_CHECKPOINT", "--path", str(edited))
        assert trigger(runtime, "worker-news-processor")["outcome"] == "ok"
        assert read(runtime, "BTC_CHECKPOINT")["processedIds"] == [waiting["id"]]
        wrangler_kv(runtime, "put", "BTC_CHECKPOINT", RESET)
        assert trigger(runtime, "worker-news-processor")["outcome"] == "ok"
        wrangler_kv(runtime, "put", "BTC_CHECKPOINT", "{")
        trigger(runtime, "worker-news-processor")
        assert isinstance(read(runtime, "BTC_CHECKPOINT"), dict)
