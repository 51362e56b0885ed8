-- The numbers of purges: `seq` is the latest that was known when the origin of a copy was asked, `first_seq` the same of the
-- page's first copy, `seen_seq` the latest soft purge that has looked at the copy and left it.
ALTER TABLE cached_pages ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cached_pages ADD COLUMN first_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cached_pages ADD COLUMN seen_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE purge_log ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE purge_log ADD COLUMN soft INTEGER NOT NULL DEFAULT 0;
CREATE INDEX purge_log_by_number ON purge_log (zone_id, seq);
DROP INDEX cached_pages_by_time;
CREATE INDEX cached_pages_by_number ON cached_pages (zone_id, seq);
-- Visits as they were counted while pages were served, as a number for a month that fades; and since when.
ALTER TABLE page_facts ADD COLUMN visits REAL NOT NULL DEFAULT 0;
ALTER TABLE page_facts ADD COLUMN visits_at REAL NOT NULL DEFAULT 0;
