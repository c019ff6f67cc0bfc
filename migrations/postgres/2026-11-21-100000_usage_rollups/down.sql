ALTER TABLE balance_entries DROP COLUMN identity;
DROP INDEX usage_events_by_time;
DROP TABLE usage_rollups;
