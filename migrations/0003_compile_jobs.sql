-- Accepted compile jobs. A row stands here before its message is sent, so that no crash loses one.
-- Times in milliseconds since the epoch. `message` is what is sent to the queue; large content stands in R2 under its key.
CREATE TABLE compile_jobs (
  request_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  priority TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  config_name TEXT NOT NULL,
  message TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  sent_ms INTEGER,
  sends INTEGER NOT NULL DEFAULT 0,
  started_ms INTEGER,
  lease_ms INTEGER,
  finished_ms INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  cache_key TEXT,
  rule_count INTEGER,
  duration_ms INTEGER
) STRICT;
CREATE INDEX compile_jobs_state ON compile_jobs (state, created_ms);
CREATE INDEX compile_jobs_created ON compile_jobs (created_ms);
CREATE INDEX compile_jobs_finished ON compile_jobs (finished_ms);

-- Every compilation, whichever path asked for it.
CREATE TABLE compilation_metadata (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  config_name TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  path TEXT NOT NULL,
  source_count INTEGER NOT NULL,
  rule_count INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  cache_key TEXT NOT NULL,
  success INTEGER NOT NULL,
  error TEXT
) STRICT;
CREATE INDEX compilation_metadata_at ON compilation_metadata (at_ms);
