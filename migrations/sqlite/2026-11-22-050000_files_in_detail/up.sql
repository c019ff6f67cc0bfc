-- labels: JSON array of the owner's labels; NULL for none. processed_at: time of the outcome. original_name: name as sent with the
-- last upload, before it was sanitized.
ALTER TABLE files ADD COLUMN labels TEXT;
ALTER TABLE files ADD COLUMN processed_at BIGINT;
ALTER TABLE files ADD COLUMN original_name TEXT;
UPDATE files SET processed_at = (
    SELECT coalesce(completed_at, started_at) FROM index_runs WHERE index_runs.sync_id = files.last_run_id
) WHERE outcome IS NOT NULL;
CREATE INDEX files_by_name ON files (organization_id, name);

-- Outcomes of the files of each run. Later runs do not change them.
CREATE TABLE run_files (
    sync_id BLOB NOT NULL REFERENCES index_runs (sync_id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    organization_id BLOB NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    outcome TEXT NOT NULL,
    reason TEXT,
    processed_at BIGINT NOT NULL,
    PRIMARY KEY (sync_id, name)
);
CREATE INDEX run_files_by_age ON run_files (processed_at);
INSERT INTO run_files (sync_id, name, organization_id, outcome, reason, processed_at)
SELECT last_run_id, name, organization_id, outcome, reason, processed_at
FROM files
WHERE outcome IS NOT NULL AND processed_at IS NOT NULL;
