"""`sluice preload`: submits pages for warming from any machine, and waits for them on request."""

import argparse
import json
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sluice.cli.files import read_file
from sluice.cli.preload_client import PreloadClient
from sluice.cli.standard_streams import Streams, UsageError
from sluice.cli.terminal import ProgressBar
from sluice.cli.web_client import read_url
from sluice.core.compiler.events import Event
from sluice.core.errors import ConfigError, Refused, SluiceError
from sluice.core.preload.priority import TRIGGERS
from sluice.core.preload.queue_entries import MAX_REQUEST_URLS
from sluice.core.preload.sitemap import MAX_BYTES, Sitemap, SitemapReader

DEFAULT_ENDPOINT: Final = "http://edge-preload.localhost:8787"
KEY_VARIABLE: Final = "SLUICE_SIGNING_KEY"
TIMEOUT_S: Final = 60.0
POLL_INTERVAL_S: Final = 1.0
MAX_SITEMAPS: Final = 500
MAX_KEY_BYTES: Final = 4096
FINAL_STATES: Final = ("done", "failed", "gone", "skipped", "dropped", "cancelled")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--zone", metavar="ID", required=True, help="id of the registered zone")
    parser.add_argument("--url", metavar="URL", action="append", help="page to warm; repeatable")
    parser.add_argument(
        "--sitemap", metavar="URL", help="warm all pages of this sitemap, which is read on this machine"
    )
    parser.add_argument("--wait", action="store_true", help="wait until all pages are processed, then print the result")
    parser.add_argument(
        "--endpoint",
        metavar="URL",
        default=DEFAULT_ENDPOINT,
        help=f"address of edge-preload (default: {DEFAULT_ENDPOINT})",
    )
    parser.add_argument(
        "--key-file", metavar="FILE", help=f"file with the signing key (default: the variable {KEY_VARIABLE})"
    )
    parser.add_argument("--priority", metavar="N", type=float, help="priority from 0 to 100 (default: computed)")
    parser.add_argument(
        "--trigger", choices=TRIGGERS, default="manual", help="why the pages are warmed (default: manual)"
    )


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Submit the pages in batches of 100; return 1 if a page failed while waiting."""
    if not options.url and not options.sitemap:
        raise UsageError("name pages with --url, or a sitemap with --sitemap")
    client = PreloadClient(options.endpoint, options.zone, read_key(options))
    urls = list(dict.fromkeys([*(options.url or []), *_read_sitemap_urls(options.sitemap)]))
    batch_ids = [_submit_batch(client, batch, options, streams) for batch in _split_batches(urls)]
    if not options.wait:
        return 0
    totals = _wait_for_batches(client, batch_ids, streams)
    counts = ", ".join(f"{totals[state]} {state}" for state in FINAL_STATES if totals[state])
    streams.print_message(counts or "nothing to do")
    return 1 if totals["failed"] or totals["dropped"] else 0


def read_key(options: argparse.Namespace) -> str:
    """Read the key from a file or the environment, never from the arguments, which other users can see."""
    if options.key_file:
        return read_file(options.key_file, max_bytes=MAX_KEY_BYTES).decode("utf-8", "replace").strip()
    if not (key := os.environ.get(KEY_VARIABLE, "")):
        raise ConfigError(f"set {KEY_VARIABLE}, or name a file with --key-file")
    return key


def _read_sitemap_urls(url: str | None) -> Iterator[str]:
    """Yield every page of a sitemap and of the sitemaps it lists."""
    pending = [url] if url else []
    visited: set[str] = set()
    while pending and len(visited) < MAX_SITEMAPS:
        location = pending.pop(0)
        if location in visited:
            continue
        visited.add(location)
        sitemap = _read_sitemap(location)
        pending += [entry.url for entry in sitemap.sitemaps]
        yield from (entry.url for entry in sitemap.pages)


def _read_sitemap(url: str) -> Sitemap:
    """Read one file; an error names it, because it may be one of many."""
    try:
        reader = SitemapReader()
        reader.feed(read_url(url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S))
        return reader.finish()
    except SluiceError as error:
        raise Refused(f"sitemap {url}: {error}") from error


def _split_batches(urls: Sequence[str]) -> Iterator[list[str]]:
    for at in range(0, len(urls), MAX_REQUEST_URLS):
        yield list(urls[at : at + MAX_REQUEST_URLS])


def _submit_batch(client: PreloadClient, urls: list[str], options: argparse.Namespace, streams: Streams) -> str:
    """Submit one batch, print the reply, and return the id of the batch."""
    body: dict[str, Any] = {
        "zone_id": client.zone_id,
        "idempotency_key": f"preload-{uuid.uuid4()}",
        "urls": urls,
        "trigger": options.trigger,
    }
    if options.priority is not None:
        body["priority"] = options.priority
    reply = client.submit(body)
    streams.stdout.write(f"{json.dumps(reply)}\n".encode())
    streams.stdout.flush()
    return str(reply["preload_batch_id"])


def _wait_for_batches(client: PreloadClient, batch_ids: list[str], streams: Streams) -> dict[str, int]:
    """Return how many pages ended in each state; poll one batch at a time, because requests are rate-limited."""
    bar = ProgressBar(streams.stderr)
    totals = dict.fromkeys(FINAL_STATES, 0)
    try:
        for number, batch_id in enumerate(batch_ids, start=1):
            batch = client.get_batch(batch_id)
            while batch["state"] != "finished":
                _show_progress(bar, batch, f"batch {number} of {len(batch_ids)}")
                time.sleep(POLL_INTERVAL_S)
                batch = client.get_batch(batch_id)
            for state in FINAL_STATES:
                totals[state] += batch[state]
    finally:
        bar.clear()
    return totals


def _show_progress(bar: ProgressBar, batch: dict[str, Any], label: str) -> None:
    finished = sum(batch[state] for state in FINAL_STATES)
    remaining = "paused" if batch["eta_s"] is None else f"about {batch['eta_s']} s left"
    message = f"{label}: {finished} of {batch['total']} pages, {remaining}"
    bar.show(Event("progress", {"current": finished, "total": batch["total"], "message": message}))
