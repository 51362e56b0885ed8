-- One row for each item of a batch or a warming, written the moment its outcome is known.
CREATE TABLE compile_items (
  owner TEXT NOT NULL,
  item_id TEXT NOT NULL,
  success INTEGER NOT NULL CHECK (success IN (0, 1)),
  cache_key TEXT,
  rule_count INTEGER,
  duration_ms INTEGER NOT NULL,
  cached INTEGER NOT NULL CHECK (cached IN (0, 1)),
  error TEXT,
  recorded_ms INTEGER NOT NULL,
  PRIMARY KEY (owner, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX compile_items_by_age ON compile_items (recorded_ms);

-- One row for each workflow instance: what its whole log says, also after events were dropped.
CREATE TABLE workflow_runs (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL CHECK (type IN ('compilation', 'batch', 'cache-warming', 'health-monitoring')),
  started_ms INTEGER NOT NULL,
  progress INTEGER NOT NULL DEFAULT 0,
  completed_ms INTEGER,
  duration_ms INTEGER,
  outcome TEXT CHECK (outcome IN ('completed', 'failed')),
  error TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX workflow_runs_by_type ON workflow_runs (type, started_ms);
CREATE INDEX workflow_runs_by_age ON workflow_runs (started_ms);

-- No two events of a workflow share a moment, so that whoever asks for later ones misses none.
CREATE TABLE workflow_events (
  workflow_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  event_key TEXT,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (workflow_id, at_ms),
  UNIQUE (workflow_id, event_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX workflow_events_by_age ON workflow_events (at_ms);

-- One row for each check of a source in one run.
CREATE TABLE source_attempts (
  run_id TEXT NOT NULL,
  source TEXT NOT NULL,
  position INTEGER NOT NULL,
  name TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  success INTEGER NOT NULL CHECK (success IN (0, 1)),
  status_code INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  rule_count INTEGER NOT NULL,
  error TEXT,
  etag TEXT,
  last_modified TEXT,
  recheck INTEGER NOT NULL CHECK (recheck IN (0, 1)),
  PRIMARY KEY (run_id, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX source_attempts_by_source ON source_attempts (source, at_ms);
CREATE INDEX source_attempts_by_age ON source_attempts (at_ms);

-- What the attempts of the last 30 days come to.
CREATE TABLE source_health (
  source TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('healthy', 'degraded', 'unhealthy')),
  total_attempts INTEGER NOT NULL,
  successful_attempts INTEGER NOT NULL,
  failed_attempts INTEGER NOT NULL,
  consecutive_failures INTEGER NOT NULL,
  average_duration_ms REAL NOT NULL,
  average_rule_count REAL,
  last_attempt_ms INTEGER NOT NULL,
  last_success_ms INTEGER,
  last_failure_ms INTEGER
) STRICT, WITHOUT ROWID;

-- An incident: opened once, delivered once, resolved when the source is well again.
CREATE TABLE health_alerts (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  run_id TEXT NOT NULL,
  payload TEXT NOT NULL,
  opened_ms INTEGER NOT NULL,
  delivered_ms INTEGER,
  resolved_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX health_alerts_open ON health_alerts (source) WHERE resolved_ms IS NULL;
CREATE INDEX health_alerts_by_run ON health_alerts (run_id);
