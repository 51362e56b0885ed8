-- The events that a workflow stored in one write: fewer rows than one for each event.
-- `events` is a JSON array of [offset_ms, key, type, body]; an event happened at base_ms + offset_ms. No two events of a
-- workflow share a moment, so that whoever asks for later ones misses none.
CREATE TABLE workflow_event_pages (
  workflow_id TEXT NOT NULL,
  base_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  progress INTEGER NOT NULL,
  events TEXT NOT NULL,
  PRIMARY KEY (workflow_id, base_ms)
) STRICT, WITHOUT ROWID;

DELETE FROM workflow_events;
-- Rows are only deleted by age, once an hour.
DROP INDEX workflow_runs_by_age;
