-- Pages whose copies were removed lately: whoever was storing one meanwhile may have left its object without a row in
-- `cached_pages`, so the objects are deleted once more. `seq` is the latest purge that was known at the removal.
CREATE TABLE removed_pages (
  zone_id TEXT NOT NULL,
  url TEXT NOT NULL,
  variant TEXT NOT NULL,
  seq INTEGER NOT NULL,
  removed_at REAL NOT NULL,
  PRIMARY KEY (zone_id, url, variant)
) STRICT, WITHOUT ROWID;
