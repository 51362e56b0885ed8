-- When the end of an alert was delivered; alerts that ended before this existed send nothing.
ALTER TABLE health_alerts ADD COLUMN resolution_delivered_ms INTEGER;
UPDATE health_alerts SET resolution_delivered_ms = resolved_ms WHERE resolved_ms IS NOT NULL;

-- Whether the error of an item is one that no retry can mend.
ALTER TABLE compile_items ADD COLUMN permanent INTEGER NOT NULL DEFAULT 0;
