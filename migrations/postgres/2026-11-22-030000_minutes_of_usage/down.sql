DELETE FROM usage_rollups WHERE period = 60000;
DROP INDEX usage_rollups_by_time;
