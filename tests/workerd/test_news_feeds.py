"""Many feeds in workerd: those that hang or are broken do not keep the others from being read."""

import gzip
import threading
from collections.abc import Iterator

import pytest

from runtime import ROOT, Runtime
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

TOKEN = "the-operators-token"
XML = {"Content-Type": "application/rss+xml"}
HANGING = 10
BROKEN = {
    "/broken/challenge": Answer(b"<html><title>Just a moment...</title></html>", headers={"Content-Type": "text/html"}),
    "/broken/status": Answer(b"", 503),
    "/broken/empty": Answer(b"", headers=XML),
    "/broken/dropped": Answer(b"<rss><channel>", drop=True, headers=XML),
    "/broken/noise": Answer(bytes(range(256)) * 40, headers=XML),
}


def feed(title: str, encoding: str = "utf-8") -> bytes:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    item = f"<item><title>{title}</title><link>https://site.example/{sum(title.encode())}</link></item>"
    return f"{head}<rss><channel>{item}</channel></rss>".encode(encoding)


# Feeds that are odd and can be read, and the titles in them.
READABLE = {
    "Shift_JIS ビットコイン": feed("Shift_JIS ビットコイン", "shift_jis"),
    "GB2312 比特币": feed("GB2312 比特币", "gb2312"),
    "Big5 比特幣": feed("Big5 比特幣", "big5"),
    "EUC-KR 비트코인": feed("EUC-KR 비트코인", "euc_kr"),
    "Compressed": gzip.compress(feed("Compressed")),
    "Bare & ampersand": feed("Bare & ampersand"),
    "Truncated": feed("Truncated").partition(b"</channel>")[0] + b"<item><title>Cut",
    "After junk": b"<b>Warning</b>: oops\n" + feed("After junk"),
    "Lost root": b"<rss><channel></channel></rss><item><title>Lost root</title><link>https://site.example/l</link></item>",
    "JSON Feed": b'{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "https://site.example/j", '
    b'"title": "JSON Feed"}]}',
    **{f"Plain {number}": feed(f"Plain {number}") for number in range(5)},
}


@pytest.fixture(name="updated", scope="module")
def _updated(start: StartRuntime) -> Iterator[tuple[Runtime, Origin, dict[str, object]]]:
    """Runs the updater once with thirty feeds, of which ten hang and five are broken."""
    gate = threading.Event()
    with local_origin() as origin:
        hanging = [origin.serve(f"/hanging/{number}", Answer(feed("never"), gate=gate)) for number in range(HANGING)]
        broken = [origin.serve(path, answer) for path, answer in BROKEN.items()]
        readable = [origin.serve(f"/{at}", Answer(body, headers=XML)) for at, body in enumerate(READABLE.values())]
        # Those that hang come first, so that the others would wait behind them.
        feeds = ",".join([*hanging, *broken, *readable])
        variables = [f"NEWS_FEEDS={feeds}", f"ALLOW_PRIVATE_HOSTS={origin.address}", f"ADMIN_TOKEN={TOKEN}"]
        configs = [f"--config={ROOT}/wrangler.news-{name}.toml" for name in ("updater", "processor", "api")]
        runtime = start(*configs, *(f"--var={each}" for each in variables))
        with runtime.client("worker-news-updater") as client:
            reply = client.post("/run", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=None)
            assert reply.status_code == 200, reply.text
        yield runtime, origin, reply.json()
        gate.set()


def test_everything_readable_is_taken(updated: tuple[Runtime, Origin, dict[str, object]]):
    """One run takes the articles of every feed that can be read."""
    runtime, _, report = updated
    with runtime.client("worker-news-updater") as client:
        pending = client.get("/").json()
    assert report["outcome"] == "ok"
    assert pending["totalArticles"] == len(READABLE)
    assert all(article["title"] in READABLE and article["link"] for article in pending["latestArticles"])


def test_failures_are_told(updated: tuple[Runtime, Origin, dict[str, object]]):
    """Every feed that hangs or is broken is in the report with its reason, and no other is."""
    _, origin, report = updated
    failed = report["failed"]
    assert isinstance(failed, dict)
    assert len(failed) == HANGING + len(BROKEN)
    assert all(f"feed:{origin.address}{path}" in failed for path in BROKEN)
    assert sum("did not answer within" in reason for reason in failed.values()) == HANGING


def test_requests_name_the_service(updated: tuple[Runtime, Origin, dict[str, object]]):
    """Every site can see who asks."""
    _, origin, _ = updated
    assert all(
        {name.lower(): value for name, value in seen.headers.items()}.get("user-agent", "").startswith("sluice-news/")
        for seen in origin.seen
    )
