"""The Workers start over what earlier versions have stored, and go on with it.

`upgrades/preload_queue.sql` is the storage of a zone's object as the code before the first release left it; the other objects' tables
are written out here. A table of an object may gain columns and companions, but must still be read in these forms.
"""

import json
import re
import sqlite3
import time
import tomllib
from pathlib import Path

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime

HERE = ROOT / "tests/workerd/upgrades"
MIGRATIONS = sorted((ROOT / "migrations").glob("*.sql"))
TOKEN = "the-operators-token"
ZONE = "abc123xyz"
CLIENT = "192.0.2.7"
JOB = "compile-1-0123456789"
# The articles of the news, the latest to be processed first.
ARTICLES = {
    name: json.dumps(
        {"id": name, "title": f"Bitcoin is {name}", "link": f"https://site.example/{name}", "status": "complete"}
    )
    for name in ("steady", "quiet")
}
CONFIGS = [tomllib.loads(path.read_text()) for path in ROOT.glob("wrangler*.toml")]
CLASSES = {
    (config["name"], binding["class_name"])
    for config in CONFIGS
    for binding in config.get("durable_objects", {}).get("bindings", ())
    if "script_name" not in binding
}
# By Worker and class: the object's name and its storage. An object that stores nothing, or is new, has no past.
PAST: dict[tuple[str, str], tuple[str, list[str]]] = {
    ("edge-preload", "PreloadQueue"): (ZONE, (HERE / "preload_queue.sql").read_text().splitlines()),
    ("adblock-compiler", "RateLimiter"): (
        CLIENT,
        [
            "create table rate_window (id integer primary key check (id = 1), count integer, reset_at real)",
            "insert into rate_window values (1, 10, {soon})",
        ],
    ),
    **{
        (name, "RunLock"): (
            "news",
            [
                "create table holder (id integer primary key check (id = 1), token text not null, until_ms integer not null) strict",
                "insert into holder values (1, '', 0)",
                (
                    "create table announced (key text primary key, version integer not null, first_at_ms integer not null,"
                    " was_present integer not null, value text) strict, without rowid"
                ),
                "insert into announced values ('BTC_CHECKPOINT', 1794000000000, 1794000000000, 1, null)",
            ],
        )
        for name in ("worker-news-processor", "worker-news-updater")
    },
    ("worker-api", "NewsState"): (
        "news",
        [
            "create table article (id text primary key, data text not null, changed_at_ms integer not null) strict, without rowid",
            *(
                f"insert into article values ('{article_id}', '{ARTICLES[article_id]}', 1794000000000)"  # noqa: S608 - ours
                for article_id in ARTICLES
            ),
            "create table article_order (id integer primary key check (id = 1), ids text not null) strict",
            f"insert into article_order values (1, '{json.dumps(list(ARTICLES))}')",  # noqa: S608 - ours
            (
                "create table snapshot_state (id integer primary key check (id = 1), changes integer not null,"
                " written integer not null, changed_at_ms integer not null, index_version integer not null,"
                " is_legacy integer not null) strict"
            ),
            "insert into snapshot_state values (1, 2, 2, 1794000000000, 1794000000000, 0)",
        ],
    ),
}
WITHOUT_PAST = {
    ("adblock-compiler", "CompilationObject"),
    ("adblock-compiler", "JobSweeper"),
}
# Metrics of the last half hour and events of the last hour: a migration may begin them anew.
SHORT_LIVED = {"request_errors", "request_windows", "workflow_events"}
CONFIG = """
name = "{name}"
main = "{main}"
compatibility_date = "2026-09-08"
compatibility_flags = ["python_workers"]
d1_databases = [{{ binding = "DB", database_name = "sluice", database_id = "sluice" }}]
kv_namespaces = [{{ binding = "KV", id = "crypto-news-cache" }}]
[durable_objects]
bindings = [{{ name = "{class_name}", class_name = "{class_name}" }}]
[[migrations]]
tag = "v1"
new_sqlite_classes = ["{class_name}"]
"""


def test_every_object_has_a_past():
    """Each class of each Worker is tried with what it stored before, or is known to have stored nothing."""
    assert PAST.keys() | WITHOUT_PAST == CLASSES


def fill_tables(database: sqlite3.Connection) -> dict[str, int]:
    """Add a row to every table that takes one of plain values, and return the number of rows of all tables."""
    tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
    for table in tables:
        columns = database.execute("select * from pragma_table_info(?)", [table]).fetchall()
        values = [1 if "INT" in kind or "REAL" in kind else "x" for _, _, kind, *_ in columns]
        try:
            database.execute(f"insert into {table} values ({','.join('?' * len(values))})", values)  # noqa: S608 - ours
        except sqlite3.IntegrityError:  # a column takes certain words only, or the row is there
            continue
    return {table: count_rows(database, table) for table in tables}


def count_rows(database: sqlite3.Connection, table: str) -> int:
    return int(database.execute(f"select count(*) from {table}").fetchone()[0])  # noqa: S608 - ours


@pytest.mark.parametrize("number", range(1, len(MIGRATIONS)), ids=lambda number: MIGRATIONS[number].stem)
def test_migrations_keep_rows(number: int):
    """Each migration applies over the rows of the version before it, and no table loses one that lasts."""
    with sqlite3.connect(":memory:") as database:
        for path in MIGRATIONS[:number]:
            database.executescript(path.read_text())
        before = fill_tables(database)
        assert sum(before.values()) >= len(before) // 2
        database.executescript(MIGRATIONS[number].read_text())
        for table, rows in before.items():
            if table in SHORT_LIVED:
                continue
            assert count_rows(database, table) >= rows, table


@pytest.fixture(name="upgraded", scope="module")
def _upgraded(tmp_path_factory: pytest.TempPathFactory):
    """All Workers of today, over the state that yesterday's have left."""
    folder = tmp_path_factory.mktemp("upgrade")
    state = folder / "state"
    leave_past(folder, state)
    runtime = Runtime(state, f"--var=ADMIN_TOKEN={TOKEN}", "--var=RATE_LIMIT_WINDOW_S=86400", "--no-cache").start()
    yield runtime
    runtime.kill()


def leave_past(folder: Path, state: Path) -> None:
    (folder / "migrations").mkdir()
    for path in MIGRATIONS[:5]:  # of version 1
        (folder / "migrations" / path.name).write_text(path.read_text())
    configs = []
    for name, class_name in PAST:
        config = folder / f"wrangler.{name}.toml"
        config.write_text(CONFIG.format(name=name, class_name=class_name, main=HERE / "src/past_worker.py"))
        configs.append(f"--config={config}")
    past = Runtime(state, *configs).start()
    try:
        for (name, class_name), (object_name, statements) in PAST.items():
            text = "\n".join(statements).replace("{soon}", str(time.time() + 80_000))
            post(past, name, f"/{class_name}/{object_name}", text)
        snapshot = re.search(r"'config','(.*)'\)", (HERE / "preload_queue.sql").read_text())
        assert snapshot
        job = f"'{JOB}', 'compile', 'standard', 'completed', 'Old list', '{{}}', 1794000000000, 1, 1, 2, null, 3, 1"
        rows = [
            f"insert into config_snapshots values ('{ZONE}', 1, '{snapshot[1]}', 1794000000)",  # noqa: S608 - ours
            f"insert into compile_jobs values ({job}, null, 'cache:gone', 7, 12)",  # noqa: S608 - ours
        ]
        post(past, "adblock-compiler", "/d1", "\n".join(rows))
        stored = {
            "BTC_ID_INDEX": json.dumps(list(ARTICLES)),
            **{f"article:{name}": text for name, text in ARTICLES.items()},
        }
        post(past, "worker-api", "/kv", "\n".join(f"{key} {value}" for key, value in stored.items()))
    finally:
        past.stop()


def post(runtime: Runtime, worker: str, path: str, statements: str) -> None:
    with runtime.client(worker) as client:
        reply = client.post(path, content=statements.encode())
        assert reply.status_code == 200, (reply.text, runtime.lines[-5:])


def test_zone(upgraded: Runtime):
    """A zone is still there with its settings, its pause, the pages that wait and the dead letters, and its cron runs."""
    with upgraded.client("edge-preload") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        zones = client.get("/api/v1/zones").json()
        queue = client.get(f"/api/v1/zones/{ZONE}/queue").json()
        dead = client.get(f"/api/v1/zones/{ZONE}/failed").json()
        assert client.get(f"/api/v1/zones/{ZONE}/config").json()["config"]["site_url"] == "https://www.example.com"
    assert ZONE in str(zones)
    assert "https://www.example.com/waiting" in str(queue)
    assert "https://www.example.com/gone" in str(dead)
    assert upgraded.cron("edge-preload", "* * * * *").status_code == 200, upgraded.lines[-5:]


def test_rate_limit(upgraded: Runtime):
    """Who had used up the window before the deployment must still wait for its end."""
    headers = {"CF-Connecting-IP": CLIENT}
    configuration = {"name": "List", "sources": [{"source": "https://example.org/list.txt"}]}
    body = {"configuration": configuration, "preFetchedContent": {"https://example.org/list.txt": "||example.org^"}}
    reply = httpx.post(f"{upgraded.url}/compile", json=body, headers=headers, timeout=PATIENCE_S)
    assert reply.status_code == 429


def test_job(upgraded: Runtime):
    """A finished job can still be asked for, although its list has left the cache."""
    reply = httpx.get(f"{upgraded.url}/queue/results/{JOB}", timeout=PATIENCE_S).json()
    assert (reply["status"], reply["jobInfo"]["configName"]) == ("cache_miss", "Old list")


def test_articles(upgraded: Runtime):
    """The articles of the news are served as before, in the same order."""
    with upgraded.client("worker-api") as client:
        articles = client.get("/api/bitcoin-news").json()["articles"]
    assert [each["id"] for each in articles] == list(ARTICLES)


@pytest.mark.parametrize("worker", ["worker-news-processor", "worker-news-updater"])
def test_run_lock(upgraded: Runtime, worker: str):
    """The lock of the news runs is taken over: the next run begins."""
    assert upgraded.cron(worker, "* * * * *").status_code == 200, upgraded.lines[-5:]
    assert not any('"outcome": "busy"' in line for line in upgraded.lines)
