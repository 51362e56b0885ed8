-- When a copy was stored, by the clock of whoever stored it: a purge removes what is older. Epoch seconds.
ALTER TABLE cached_pages ADD COLUMN indexed_at REAL NOT NULL DEFAULT 0;
CREATE INDEX cached_pages_by_time ON cached_pages (zone_id, indexed_at);
-- A JSON list of the URLs that a purge covers with everything below them.
ALTER TABLE purge_log ADD COLUMN prefixes TEXT NOT NULL DEFAULT '[]';
