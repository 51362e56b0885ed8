CREATE TABLE things (
  name TEXT PRIMARY KEY,
  size INTEGER NOT NULL CHECK (size >= 0)
);
