-- Requests with an Idempotency-Key, for a day. `name` is a hash of the caller, the operation and the key; `unique_part` belongs to
-- the id of what the request starts. The row is stored before that, and `reply` (JSON: status, headers, body) after it.
CREATE TABLE idempotency_keys (
  name TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  unique_part TEXT NOT NULL,
  reply TEXT,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_expires ON idempotency_keys (expires_ms);
