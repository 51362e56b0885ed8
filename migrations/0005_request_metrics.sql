-- How each endpoint was used, in windows of five minutes; a window is the epoch second it begins with.
CREATE TABLE request_windows (
  window_s INTEGER NOT NULL,
  endpoint TEXT NOT NULL,
  success INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  duration_ms REAL NOT NULL,
  PRIMARY KEY (window_s, endpoint)
) STRICT, WITHOUT ROWID;

-- Why requests failed, by the text that the caller was told.
CREATE TABLE request_errors (
  window_s INTEGER NOT NULL,
  endpoint TEXT NOT NULL,
  error TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (window_s, endpoint, error)
) STRICT, WITHOUT ROWID;

-- What is counted for ever; labels are a JSON array of texts, in the order that the metric names them.
CREATE TABLE counters (
  name TEXT NOT NULL,
  labels TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (name, labels)
) STRICT, WITHOUT ROWID;
