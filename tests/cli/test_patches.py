"""AdGuard's own client applies the patches of a list over fifty revisions, byte for byte."""

import asyncio
import http.server
import json
import random
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from fakes.clock import ManualClock
from runtime import PATIENCE_S, ROOT
from unit.services.compiler.published.list_bench import ListBench

SOURCE = "https://lists.example/source.txt"
REVISIONS = 50
LONG_AGO = 1_760_000_000.0  # the client asks for a patch only after its time


@pytest.fixture(name="revisions", scope="module")
def _revisions() -> list[str]:
    return asyncio.run(make_revisions(PATCHES))


PATCHES: dict[str, bytes] = {}


async def make_revisions(patches: dict[str, bytes]) -> list[str]:
    """Build a list fifty times with small changes. Returns its texts, and fills in the patches by path."""
    chance = random.Random(5)
    rules = [f"||ads{chance.randrange(10**9)}.example^" for _ in range(2000)]
    bench = ListBench({SOURCE: "\n".join(rules).encode()}, clock=ManualClock(LONG_AGO))
    await bench.put("my-list-2", SOURCE, schedule="* * * * *")
    await bench.run_all()
    texts = [await bench.text("my-list-2.txt")]
    for _ in range(REVISIONS):
        for _ in range(3):
            rules.pop(chance.randrange(len(rules)))
            rules.insert(chance.randrange(len(rules)), f"||new{chance.randrange(10**9)}.example^")
        bench.sites.answers[SOURCE] = "\n".join(rules).encode()
        assert await bench.rebuild("my-list-2") == "published"
        texts.append(await bench.text("my-list-2.txt"))
    async for stored in bench.bucket.objects("published/patches/"):
        content = await bench.bucket.get_bytes(stored.key)
        assert content is not None
        patches["/lists/" + stored.key.removeprefix("published/")] = content
    return texts


@pytest.fixture(name="address", scope="module")
def _address() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = PATCHES.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_arguments: Any) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/lists/my-list-2.txt"
        server.shutdown()


def update(address: str, *texts: str) -> list[str | None]:
    """Return the texts as the client has them after it has applied all patches."""
    script = Path(__file__).with_name("apply_patches.mjs")
    done = subprocess.run(
        [ROOT / "node_modules/.bin/node", script],
        input="".join(json.dumps({"address": address, "text": text}) + "\n" for text in texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
        cwd=ROOT,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_client_applies_all_patches(revisions: list[str], address: str):
    """From the first, some middle and the last but one revision to the newest; the newest has no patch."""
    newest = revisions[-1]
    updated = update(address, revisions[0], revisions[20], revisions[-2], newest)
    assert updated[:3] == [newest] * 3
    assert updated[3] in {None, newest}
    assert len(PATCHES) == REVISIONS


def test_patches_are_small(revisions: list[str]):
    """The median patch is under two percent of the list."""
    assert median(map(len, PATCHES.values())) < 0.02 * len(revisions[-1])


def test_names(revisions: list[str]):
    """What uBlock Origin needs: the date in the path, a name in the directive, Diff-Expires; no hyphen before the names."""
    minutes = []
    for text in revisions:
        head = text[:1024]
        match = re.search(r"^! Diff-Path: (\S+)#(\S+)$", head, re.MULTILINE)
        assert match
        path, resource = match.groups()
        assert re.fullmatch(r"patches/[a-z]+/\d{4}\.\d+\.\d+\.\d+-m-\d+-60\.patch", path)
        assert len(path.split("-")) == 4
        date = re.search(r"(\d+)\.(\d+)\.(\d+)\.(\d+)", path)
        assert date
        minutes.append(tuple(map(int, date.groups())))
        assert re.search(r"^! Diff-Expires: 1 hours$", head, re.MULTILINE)
        if f"/lists/{path}" in PATCHES:
            assert PATCHES[f"/lists/{path}"].startswith(f"diff name:{resource} checksum:".encode())
    assert minutes == sorted(set(minutes))
