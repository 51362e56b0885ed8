-- The zones that the minute's cron visits. Listing the keys of KV each minute costs more, and the free plan has too few listings.
CREATE TABLE zones (
  zone_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO zones SELECT DISTINCT zone_id FROM config_snapshots;

-- When the origin last said that a stored copy has not changed; its object in R2 stays as it is. Epoch seconds.
ALTER TABLE cached_pages ADD COLUMN renewed_at REAL;
