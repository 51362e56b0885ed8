-- Which zones name a host: the one configured last serves it, and if that one is deleted, the one before. `name` has no port.
CREATE TABLE zone_hosts (
  host TEXT NOT NULL,
  zone_id TEXT NOT NULL,
  name TEXT NOT NULL,
  configured_at REAL NOT NULL,
  PRIMARY KEY (host, zone_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX zone_hosts_by_name ON zone_hosts (name);
CREATE INDEX zone_hosts_by_zone ON zone_hosts (zone_id);
