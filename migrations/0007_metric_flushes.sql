-- What an isolate has counted since its last write: one row for each write. After the half hour that the metrics cover,
-- its counts are added to `counters`.
-- `endpoints` is a JSON array of [window_s, endpoint, success, failed, duration_ms, {error: times}],
-- `counts` one of [name, labels, value].
CREATE TABLE metric_flushes (
  id INTEGER PRIMARY KEY,
  at_s INTEGER NOT NULL,
  endpoints TEXT NOT NULL,
  counts TEXT NOT NULL
) STRICT;

DELETE FROM request_windows;
DELETE FROM request_errors;
