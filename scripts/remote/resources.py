"""Creates on Cloudflare what the configs name and is missing; running it again changes nothing."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worker_config import WorkerConfig

# Until the first deployment a config has a name where the id will stand; local state is kept under either.
REAL_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class CommandFailed(Exception):
    """A wrangler command ended with an error; the text is what it said."""


Wrangler = Callable[..., str]


def wrangler(*arguments: str) -> str:
    """Run wrangler and return what it printed."""
    done = subprocess.run(["wrangler", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandFailed((done.stderr + done.stdout).strip())
    return done.stdout


def create_missing(configs: list[WorkerConfig], run: Wrangler, say: Callable[[str], None]) -> None:
    """Queues and buckets by name; KV namespaces and databases by name, their ids written into the configs."""
    for queue in sorted({name for config in configs for name in _queues(config)}):
        _ensure(run, say, f"queue {queue}", ("queues", "info", queue), ("queues", "create", queue))
    for bucket in sorted({entry["bucket_name"] for config in configs for entry in config.all("r2_buckets")}):
        _ensure(run, say, f"bucket {bucket}", ("r2", "bucket", "info", bucket), ("r2", "bucket", "create", bucket))
    _fill_namespaces(configs, run, say)
    _fill_databases(configs, run, say)


def _queues(config: WorkerConfig) -> set[str]:
    used = {entry["queue"] for entry in config.all("queues", "producers") + config.all("queues", "consumers")}
    dead = {entry.get("dead_letter_queue") for entry in config.all("queues", "consumers")}
    return used | {name for name in dead if name}


def _ensure(
    run: Wrangler, say: Callable[[str], None], what: str, look: tuple[str, ...], create: tuple[str, ...]
) -> None:
    try:
        run(*look)
    except CommandFailed:
        say(f"creating {what}")
        run(*create)


def _fill_namespaces(configs: list[WorkerConfig], run: Wrangler, say: Callable[[str], None]) -> None:
    missing = [(c, entry) for c in configs for entry in c.all("kv_namespaces") if not REAL_ID.fullmatch(entry["id"])]
    if not missing:
        return
    ids = _namespace_ids(run)
    for title in sorted({_title(entry) for _, entry in missing} - ids.keys()):
        say(f"creating KV namespace {title}")
        run("kv", "namespace", "create", title)
    ids = _namespace_ids(run)
    for config, entry in missing:
        _write_id(config.path, "id", entry["id"], ids[_title(entry)])


def _title(entry: dict[str, Any]) -> str:
    return f"sluice-{entry['id']}"


def _namespace_ids(run: Wrangler) -> dict[str, str]:
    return {entry["title"]: entry["id"] for entry in json.loads(run("kv", "namespace", "list"))}


def _fill_databases(configs: list[WorkerConfig], run: Wrangler, say: Callable[[str], None]) -> None:
    for config in configs:
        for entry in config.all("d1_databases"):
            if REAL_ID.fullmatch(entry["database_id"]):
                continue
            name = entry["database_name"]
            _ensure(run, say, f"database {name}", ("d1", "info", name, "--json"), ("d1", "create", name))
            uuid = json.loads(run("d1", "info", name, "--json"))["uuid"]
            _write_id(config.path, "database_id", entry["database_id"], uuid)


def _write_id(path: Path, key: str, name: str, value: str) -> None:
    """Put the real id in the place of the name, so that plain `wrangler deploy` finds it from now on."""
    text = path.read_text()
    path.write_text(text.replace(f'{key} = "{name}"\n', f'{key} = "{value}"\n'))
