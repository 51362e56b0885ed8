-- Jobs, and items of batches, that failed for good: the queue gave them up, or no retry could help. `item_id` is '' for a job.
CREATE TABLE dead_letters (
  request_id TEXT NOT NULL,
  item_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  config_name TEXT NOT NULL,
  reason TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  failed_ms INTEGER NOT NULL,
  PRIMARY KEY (request_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dead_letters_failed ON dead_letters (failed_ms);

-- How many fetches the failed attempts of a job, an item of a batch or a workflow have made: all attempts share one limit.
CREATE TABLE spent_fetches (
  owner TEXT NOT NULL,
  item_id TEXT NOT NULL,
  fetches INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (owner, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_fetches_at ON spent_fetches (at_ms);
