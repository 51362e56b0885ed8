"""`sluice purge`: purges pages of a site from any machine, and waits on request until their copies are removed."""

import argparse
import json
import time
import uuid
from typing import Any, Final

from sluice.cli.commands.preload import DEFAULT_ENDPOINT, KEY_VARIABLE, POLL_INTERVAL_S, read_key
from sluice.cli.preload_client import PreloadClient
from sluice.cli.standard_streams import Streams, UsageError

TARGETS: Final = {"urls": "url", "tags": "tag", "prefixes": "prefix"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--zone", metavar="ID", required=True, help="id of the registered zone")
    parser.add_argument("--url", metavar="URL", action="append", help="page to purge; repeatable")
    parser.add_argument("--tag", metavar="TAG", action="append", help="purge all pages with this tag; repeatable")
    parser.add_argument("--prefix", metavar="URL", action="append", help="purge all pages below this URL; repeatable")
    parser.add_argument("--everything", action="store_true", help="purge all pages of the zone")
    parser.add_argument("--soft", action="store_true", help="old copies may still be served while the origin fails")
    parser.add_argument("--wait", action="store_true", help="wait until the copies are removed, then print how many")
    parser.add_argument(
        "--endpoint",
        metavar="URL",
        default=DEFAULT_ENDPOINT,
        help=f"address of edge-preload (default: {DEFAULT_ENDPOINT})",
    )
    parser.add_argument(
        "--key-file", metavar="FILE", help=f"file with the signing key (default: the variable {KEY_VARIABLE})"
    )


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Send one purge; it holds everywhere after the time that the reply says."""
    wanted: dict[str, Any] = {name: values for name, key in TARGETS.items() if (values := getattr(options, key))}
    if options.everything:
        wanted["global"] = True
    if not wanted:
        raise UsageError("name what to purge with --url, --tag, --prefix or --everything")
    client = PreloadClient(options.endpoint, options.zone, read_key(options))
    key = f"purge-{uuid.uuid4()}"
    reply = client.purge({"zone_id": client.zone_id, "idempotency_key": key, "soft": options.soft, **wanted})
    streams.stdout.write(f"{json.dumps(reply)}\n".encode())
    streams.stdout.flush()
    if options.wait:
        streams.print_message(f"{_wait_until_done(client, str(reply['purge_id']))} pages removed")
    return 0


def _wait_until_done(client: PreloadClient, purge_id: str) -> int:
    """Return how many copies were removed."""
    while (progress := client.get_purge(purge_id))["state"] != "done":
        time.sleep(POLL_INTERVAL_S)
    return int(progress["pages_removed"])
