-- More about each page that was warmed; event_id lets a row that is sent twice arrive once.
ALTER TABLE preload_log ADD COLUMN event_id TEXT;
ALTER TABLE preload_log ADD COLUMN http_status INTEGER;
ALTER TABLE preload_log ADD COLUMN trigger_name TEXT;
ALTER TABLE preload_log ADD COLUMN attempt INTEGER;
ALTER TABLE preload_log ADD COLUMN detail TEXT;
CREATE UNIQUE INDEX preload_log_by_event ON preload_log (event_id);

-- Every form of a page that has a stored copy, so that a purge finds it. Times are epoch seconds.
CREATE TABLE cached_pages (
  zone_id TEXT NOT NULL,
  url TEXT NOT NULL,
  variant TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  stored_at REAL NOT NULL,
  fresh_until REAL NOT NULL,
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (zone_id, url, variant)
) STRICT, WITHOUT ROWID;

CREATE TABLE page_tags (
  zone_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  url TEXT NOT NULL,
  variant TEXT NOT NULL,
  PRIMARY KEY (zone_id, tag, url, variant)
) STRICT, WITHOUT ROWID;
CREATE INDEX page_tags_by_page ON page_tags (zone_id, url, variant);

-- What analytics and the site tell of a page.
CREATE TABLE page_facts (
  zone_id TEXT NOT NULL,
  url TEXT NOT NULL,
  monthly_pageviews INTEGER NOT NULL,
  published_at REAL,
  post_id INTEGER,
  PRIMARY KEY (zone_id, url)
) STRICT, WITHOUT ROWID;
CREATE INDEX page_facts_by_views ON page_facts (zone_id, monthly_pageviews);

CREATE TABLE purge_log (
  purge_id TEXT PRIMARY KEY,
  zone_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  nonce TEXT NOT NULL,
  tags TEXT NOT NULL,
  urls TEXT NOT NULL,
  everything INTEGER NOT NULL,
  created_at REAL NOT NULL,
  pages_purged INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX purge_log_by_zone ON purge_log (zone_id, created_at);
CREATE INDEX purge_log_by_age ON purge_log (created_at);

CREATE TABLE preload_alerts (
  incident_id TEXT PRIMARY KEY,
  zone_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  level TEXT NOT NULL,
  message TEXT NOT NULL,
  raised_at REAL NOT NULL,
  resolved_at REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX preload_alerts_by_zone ON preload_alerts (zone_id, raised_at);
CREATE INDEX preload_alerts_by_age ON preload_alerts (raised_at);

-- Every configuration a zone has had.
CREATE TABLE config_snapshots (
  zone_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  config_json TEXT NOT NULL,
  created_at REAL NOT NULL,
  PRIMARY KEY (zone_id, version)
) STRICT, WITHOUT ROWID;
