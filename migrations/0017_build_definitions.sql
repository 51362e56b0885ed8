-- A build makes what its list was when the build began; a definition that is put meanwhile is for the build after it.
ALTER TABLE published_builds ADD COLUMN definition TEXT;
