-- One row for each page that was warmed, or that could not be.
CREATE TABLE preload_log (
  id INTEGER PRIMARY KEY,
  zone_id TEXT NOT NULL,
  url TEXT NOT NULL,
  status TEXT NOT NULL,
  latency_ms INTEGER,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX preload_log_by_zone ON preload_log (zone_id, created_at);
CREATE INDEX preload_log_by_age ON preload_log (created_at);
