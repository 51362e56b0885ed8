"""kill -9 at random moments of the rebuilds of a list: after each restart every address has a complete version"""

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import httpx

from list_addresses import TOKEN, WORKER
from runtime import Runtime, until
from served_files import serve_files

ADMIN: Final = {"Authorization": f"Bearer {TOKEN}"}
FORMATS: Final = ("hosts", "dnsmasq")
SIGNS: Final = {"txt": "||", "hosts": "0.0.0.0 ", "dnsmasq": "local=/"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cuts", type=int, default=50, help="how often the Worker is killed (50)")
    parser.add_argument("--lines", type=int, default=5_000, help="rules of the list (5,000)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (1)")


def measure(options: argparse.Namespace) -> None:
    moments = random.Random(options.seed)  # noqa: S311 - chooses when to stop
    files = {"/": make_list(options.lines)}
    with serve_files(files) as address, tempfile.TemporaryDirectory() as folder:
        variables = (f"--var=ALLOW_PRIVATE_HOSTS={address}", f"--var=ADMIN_TOKEN={TOKEN}")
        runtime = Runtime(Path(folder) / "state", "--only", WORKER, *variables).start()
        try:
            old, new = run_cuts(runtime, f"http://{address}/", files, options.cuts, moments)
        finally:
            runtime.kill()
    print(
        f"{options.cuts} cuts: {old} addresses had the old version after the restart, {new} the new one, none anything else"
    )


def run_cuts(
    runtime: Runtime, source: str, files: dict[str, bytes], cuts: int, moments: random.Random
) -> tuple[int, int]:
    with runtime.client(WORKER) as client:
        body = {"configuration": {"name": "Cut", "sources": [{"source": source}]}, "formats": list(FORMATS)}
        build_id = client.put("/lists/cut", json=body, headers=ADMIN).raise_for_status().json()["buildId"]
        wait_for(client, build_id)
    old = new = 0
    for _ in range(cuts):
        before = files["/"].count(b"\n")
        files["/"] = make_list(before + 1)
        with runtime.client(WORKER) as client:
            build_id = client.post("/lists/cut/rebuild", headers=ADMIN).raise_for_status().json()["buildId"]
            time.sleep(moments.uniform(0, 2))
        runtime.kill()
        runtime.start()
        with runtime.client(WORKER) as client:
            for extension, sign in SIGNS.items():
                count = client.get(f"/lists/cut.{extension}").raise_for_status().text.count(f"\n{sign}")
                if count not in {before, before + 1}:
                    raise SystemExit(f"cut.{extension} has {count} entries, not {before} or {before + 1}")
                old, new = old + (count == before), new + (count > before)
            wait_for(client, build_id)
    return old, new


def make_list(rules: int) -> bytes:
    return "".join(f"||ads{at}.example^\n" for at in range(rules)).encode()


def wait_for(client: httpx.Client, build_id: str) -> None:
    def look() -> Any:
        last = client.get("/lists/cut").json().get("lastBuild") or {}
        return last.get("id") == build_id and last["endedAt"] and last

    last = until(look)
    if last["outcome"] != "published":
        raise SystemExit(f"a build ended with {json.dumps(last)}")
