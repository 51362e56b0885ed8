-- Lists that people subscribe to. Times are epoch milliseconds, `stamp_s` epoch seconds, `stamp_minute` epoch minutes.
-- `stamp_*` is the last version number that was given out, and the build that got it; `version` is the published one.
CREATE TABLE published_lists (
  name TEXT PRIMARY KEY,
  definition TEXT NOT NULL,
  origin TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  version INTEGER NOT NULL DEFAULT 0,
  published TEXT NOT NULL DEFAULT '{}',
  sources TEXT NOT NULL DEFAULT '[]',
  state TEXT NOT NULL DEFAULT 'failed',
  reason TEXT,
  stamp_version INTEGER NOT NULL DEFAULT 0,
  stamp_s INTEGER NOT NULL DEFAULT 0,
  stamp_minute INTEGER NOT NULL DEFAULT 0,
  stamp_build TEXT,
  alert_id TEXT
);
-- A build waits until it has started, and holds its list until its lease ends.
CREATE TABLE published_builds (
  id TEXT PRIMARY KEY,
  list TEXT NOT NULL,
  requested_ms INTEGER NOT NULL,
  rollback_to INTEGER,
  started_ms INTEGER,
  lease_ms INTEGER,
  ended_ms INTEGER,
  outcome TEXT,
  reason TEXT
);
CREATE INDEX published_builds_by_list ON published_builds (list, requested_ms);
CREATE INDEX published_builds_by_time ON published_builds (requested_ms);
-- The last versions. `facts` is JSON: the name of the patch to the next version, and what the header needs again.
CREATE TABLE published_versions (
  list TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_s INTEGER NOT NULL,
  rule_count INTEGER NOT NULL,
  facts TEXT NOT NULL,
  PRIMARY KEY (list, version)
);
-- The last good copy of each source; its files are in R2.
CREATE TABLE published_copies (
  list TEXT NOT NULL,
  source TEXT NOT NULL,
  digest TEXT NOT NULL,
  rule_count INTEGER NOT NULL,
  fetched_ms INTEGER NOT NULL,
  PRIMARY KEY (list, source)
);
-- How many rules each source had, so that slow shrinking is seen.
CREATE TABLE published_counts (
  list TEXT NOT NULL,
  source TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  rule_count INTEGER NOT NULL
);
CREATE INDEX published_counts_by_list ON published_counts (list, at_ms);
CREATE INDEX published_counts_by_time ON published_counts (at_ms);
-- Alerts to send; each is sent once.
CREATE TABLE published_alerts (
  id TEXT PRIMARY KEY,
  payload TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  delivered_ms INTEGER
);
