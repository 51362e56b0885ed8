"""The tables of a zone's object; each statement may run again at every start.

Rows written are what a zone's object costs: one costs as much as a thousand rows read, and each index is one row more.
So the tables have few indexes: leases are few, grants are in memory, and what is rare may scan.
"""

from typing import Final

from sluice.core.ports import Sql
from sluice.core.preload.queue_entries import WAITING

STATEMENTS: Final = (
    "CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    # One row for each variant of a page; the same page wanted again raises its priority.
    """CREATE TABLE IF NOT EXISTS entry (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      url TEXT NOT NULL,
      variant TEXT NOT NULL,
      priority REAL NOT NULL,
      enqueued_at REAL NOT NULL,
      trigger_name TEXT NOT NULL,
      post_id INTEGER,
      attempt INTEGER NOT NULL DEFAULT 0,
      crashes INTEGER NOT NULL DEFAULT 0,
      hops INTEGER NOT NULL DEFAULT 0,
      state INTEGER NOT NULL DEFAULT 0,
      due_at REAL NOT NULL DEFAULT 0,
      again INTEGER NOT NULL DEFAULT 0,
      first_failed_at REAL,
      lease INTEGER NOT NULL DEFAULT 0,
      UNIQUE (url, variant)
    ) STRICT""",
    "CREATE INDEX IF NOT EXISTS entry_order ON entry (state, priority DESC, enqueued_at, id)",
    # Only for those that wait: an index of all would cost a write for every page.
    f"CREATE INDEX IF NOT EXISTS entry_waiting ON entry (due_at) WHERE state = {WAITING}",
    # The entries whose last request timed out: they are few, so that others cost no row more.
    "CREATE TABLE IF NOT EXISTS late (entry_id INTEGER PRIMARY KEY) STRICT",
    """CREATE TRIGGER IF NOT EXISTS late_deleted AFTER DELETE ON entry BEGIN
      DELETE FROM late WHERE entry_id = old.id; END""",
    # Counting rows would take longer the more there are.
    "CREATE TABLE IF NOT EXISTS tally (name TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "INSERT OR IGNORE INTO tally VALUES ('dead_changes', 0), ('events', 0), ('purge_seq', 0)",
    # The depth of the queue and its changes, in one row because both change with every page.
    """CREATE TABLE IF NOT EXISTS queue_tally (
      id INTEGER PRIMARY KEY CHECK (id = 1), depth INTEGER NOT NULL, changes INTEGER NOT NULL
    ) STRICT""",
    "INSERT OR IGNORE INTO queue_tally VALUES (1, 0, 0)",
    """CREATE TRIGGER IF NOT EXISTS entry_inserted AFTER INSERT ON entry BEGIN
      UPDATE queue_tally SET depth = depth + 1, changes = changes + 1; END""",
    """CREATE TRIGGER IF NOT EXISTS entry_deleted AFTER DELETE ON entry BEGIN
      UPDATE queue_tally SET depth = depth - 1, changes = changes + 1; END""",
    """CREATE TRIGGER IF NOT EXISTS entry_updated AFTER UPDATE OF priority, attempt ON entry BEGIN
      UPDATE queue_tally SET changes = changes + 1; END""",
    """CREATE TABLE IF NOT EXISTS batch (
      id TEXT PRIMARY KEY,
      trigger_name TEXT NOT NULL,
      created_at REAL NOT NULL,
      finished_at REAL,
      crawling INTEGER NOT NULL DEFAULT 0,
      total INTEGER NOT NULL DEFAULT 0,
      queued INTEGER NOT NULL DEFAULT 0,
      done INTEGER NOT NULL DEFAULT 0,
      failed INTEGER NOT NULL DEFAULT 0,
      gone INTEGER NOT NULL DEFAULT 0,
      skipped INTEGER NOT NULL DEFAULT 0,
      dropped INTEGER NOT NULL DEFAULT 0,
      cancelled INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS batch_by_age ON batch (created_at)",
    """CREATE TABLE IF NOT EXISTS membership (
      entry_id INTEGER NOT NULL, batch_id TEXT NOT NULL, PRIMARY KEY (entry_id, batch_id)
    ) STRICT, WITHOUT ROWID""",
    # Grants: every request to the origin, stored before it is sent.
    """CREATE TABLE IF NOT EXISTS flight (
      id INTEGER PRIMARY KEY, granted_at REAL NOT NULL, ended_at REAL, slot_until REAL
    ) STRICT""",
    # What is known about a page's stored copy; the copy itself is in R2.
    """CREATE TABLE IF NOT EXISTS page (
      url TEXT NOT NULL, variant TEXT NOT NULL, warmed_at REAL NOT NULL, fresh_until REAL NOT NULL,
      etag TEXT, last_modified TEXT,
      PRIMARY KEY (url, variant)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS dead (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      url TEXT NOT NULL, variant TEXT NOT NULL, priority REAL NOT NULL, enqueued_at REAL NOT NULL,
      trigger_name TEXT NOT NULL, post_id INTEGER, attempt INTEGER NOT NULL,
      status INTEGER, reason TEXT NOT NULL, first_failed_at REAL NOT NULL, failed_at REAL NOT NULL,
      UNIQUE (url, variant)
    ) STRICT""",
    "CREATE INDEX IF NOT EXISTS dead_by_age ON dead (failed_at, id)",
    """CREATE TRIGGER IF NOT EXISTS dead_added AFTER INSERT ON dead BEGIN
      UPDATE tally SET n = n + 1 WHERE name = 'dead_changes'; END""",
    """CREATE TRIGGER IF NOT EXISTS dead_removed AFTER DELETE ON dead BEGIN
      UPDATE tally SET n = n + 1 WHERE name = 'dead_changes'; END""",
    "CREATE TABLE IF NOT EXISTS nonce (nonce TEXT PRIMARY KEY, expires_at REAL NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS nonce_by_expiry ON nonce (expires_at)",
    """CREATE TABLE IF NOT EXISTS replay (
      name TEXT PRIMARY KEY, body_hash TEXT NOT NULL, response TEXT NOT NULL, expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS replay_by_expiry ON replay (expires_at)",
    "CREATE TABLE IF NOT EXISTS bucket (name TEXT PRIMARY KEY, tokens REAL NOT NULL, at REAL NOT NULL) STRICT, WITHOUT ROWID",
    # Outcomes of the last minutes, for the failure rate.
    "CREATE TABLE IF NOT EXISTS result (id INTEGER PRIMARY KEY, at REAL NOT NULL, ok INTEGER NOT NULL, latency_ms REAL) STRICT",
    "CREATE INDEX IF NOT EXISTS result_by_age ON result (at)",
    # Rows on their way to D1 and to the webhook, kept until they arrive.
    "CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS incident (kind TEXT PRIMARY KEY, id TEXT NOT NULL, raised_at REAL NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS purge (id TEXT PRIMARY KEY, body TEXT NOT NULL, created_at REAL NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS purge_progress (
      id TEXT PRIMARY KEY, pages_removed INTEGER NOT NULL DEFAULT 0, created_at REAL NOT NULL, finished_at REAL
    ) STRICT, WITHOUT ROWID""",
    # The URLs that a purge names and that are still to be removed.
    """CREATE TABLE IF NOT EXISTS purge_url (
      purge_id TEXT NOT NULL, url TEXT NOT NULL, PRIMARY KEY (purge_id, url)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS mark (
      scope TEXT PRIMARY KEY, seq INTEGER NOT NULL, hard_seq INTEGER NOT NULL, at REAL NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # Visits of each hour by what answered them: edge, r2, shared, origin or pass.
    """CREATE TABLE IF NOT EXISTS visit (
      hour INTEGER NOT NULL, layer TEXT NOT NULL, visits INTEGER NOT NULL, bytes INTEGER NOT NULL, ttfb_ms REAL NOT NULL,
      PRIMARY KEY (hour, layer)
    ) STRICT, WITHOUT ROWID""",
    # Visits of pages that D1 has not heard of.
    "CREATE TABLE IF NOT EXISTS page_visit (url TEXT PRIMARY KEY, visits INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    # While the cache is only observed: the last reply for each page, and how often another visitor got another one.
    """CREATE TABLE IF NOT EXISTS observed (
      url TEXT NOT NULL, variant TEXT NOT NULL, digest TEXT NOT NULL, valid_until REAL NOT NULL,
      compared INTEGER NOT NULL DEFAULT 0, differing INTEGER NOT NULL DEFAULT 0, differed_at REAL,
      PRIMARY KEY (url, variant)
    ) STRICT, WITHOUT ROWID""",
    # Sitemaps to be read.
    """CREATE TABLE IF NOT EXISTS crawl (
      id INTEGER PRIMARY KEY AUTOINCREMENT, batch_id TEXT NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL,
      trigger_name TEXT NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, due_at REAL NOT NULL DEFAULT 0,
      state TEXT NOT NULL DEFAULT 'pending', fallback INTEGER NOT NULL DEFAULT 0, UNIQUE (batch_id, url)
    ) STRICT""",
    # How many addresses of a sitemap are in the queue already, while the rest is taken in.
    "CREATE TABLE IF NOT EXISTS crawl_progress (crawl_id INTEGER PRIMARY KEY, taken INTEGER NOT NULL) STRICT",
)


# Columns that tables of an earlier version lack.
ADDED: Final = (("entry", "lease", "INTEGER NOT NULL DEFAULT 0"),)


def create_tables(sql: Sql) -> None:
    for statement in STATEMENTS:
        sql.execute(statement)
    for table, column, kind in ADDED:
        text = str(sql.value("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", table))
        if f" {column} " not in text:
            sql.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
