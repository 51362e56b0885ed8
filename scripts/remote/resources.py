"""Creates the resources that the configs name and Cloudflare does not have; a second run changes nothing."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commands import CommandFailed, Wrangler
from worker_config import WorkerConfig

# Until the first deployment a config has a name in place of the id; local state works with both.
REAL_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def create_missing(configs: list[WorkerConfig], run: Wrangler, print_line: Callable[[str], None]) -> None:
    """Create queues, buckets, KV namespaces and databases, and write the ids of the last two into the configs."""
    for queue in sorted({name for config in configs for name in _list_queues(config)}):
        _ensure(run, print_line, f"queue {queue}", ("queues", "info", queue), ("queues", "create", queue))
    for bucket in sorted({entry["bucket_name"] for config in configs for entry in config.all("r2_buckets")}):
        _ensure(
            run, print_line, f"bucket {bucket}", ("r2", "bucket", "info", bucket), ("r2", "bucket", "create", bucket)
        )
    _create_namespaces(configs, run, print_line)
    _create_databases(configs, run, print_line)


def _list_queues(config: WorkerConfig) -> set[str]:
    used = {entry["queue"] for entry in config.all("queues", "producers") + config.all("queues", "consumers")}
    dead_letter = {entry.get("dead_letter_queue") for entry in config.all("queues", "consumers")}
    return used | {name for name in dead_letter if name}


def _ensure(
    run: Wrangler, print_line: Callable[[str], None], what: str, inspect: tuple[str, ...], create: tuple[str, ...]
) -> None:
    try:
        run(*inspect)
    except CommandFailed:
        print_line(f"creating {what}")
        run(*create)


def _create_namespaces(configs: list[WorkerConfig], run: Wrangler, print_line: Callable[[str], None]) -> None:
    missing = [(c, entry) for c in configs for entry in c.all("kv_namespaces") if not REAL_ID.fullmatch(entry["id"])]
    if not missing:
        return
    ids = _read_namespace_ids(run)
    for title in sorted({_title(entry) for _, entry in missing} - ids.keys()):
        print_line(f"creating KV namespace {title}")
        run("kv", "namespace", "create", title)
    ids = _read_namespace_ids(run)
    for config, entry in missing:
        _write_id(config.path, "id", entry["id"], ids[_title(entry)])


def _title(entry: dict[str, Any]) -> str:
    return f"sluice-{entry['id']}"


def _read_namespace_ids(run: Wrangler) -> dict[str, str]:
    return {entry["title"]: entry["id"] for entry in json.loads(run("kv", "namespace", "list"))}


def _create_databases(configs: list[WorkerConfig], run: Wrangler, print_line: Callable[[str], None]) -> None:
    for config in configs:
        for entry in config.all("d1_databases"):
            if REAL_ID.fullmatch(entry["database_id"]):
                continue
            name = entry["database_name"]
            _ensure(run, print_line, f"database {name}", ("d1", "info", name, "--json"), ("d1", "create", name))
            uuid = json.loads(run("d1", "info", name, "--json"))["uuid"]
            _write_id(config.path, "database_id", entry["database_id"], uuid)


def _write_id(path: Path, key: str, name: str, value: str) -> None:
    """Replace the name by the real id, so that `wrangler deploy` works from now on."""
    text = path.read_text()
    path.write_text(text.replace(f'{key} = "{name}"\n', f'{key} = "{value}"\n'))
