CREATE INDEX files_of_run ON files (last_run_id, object_key);
