-- Bytes that a file counts: the larger of its object and of an upload that may still come. upload_expires_at is the end of the
-- last upload URL; NULL once the object was measured after it.
ALTER TABLE files ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE files ADD COLUMN upload_expires_at BIGINT;
CREATE INDEX files_by_upload_expiry ON files (upload_expires_at);
-- Files that were never measured are measured at once.
UPDATE files SET bytes = coalesce(processed_size, 0), upload_expires_at = CASE WHEN processed_size IS NULL THEN 0 END;

-- Sums of `files`, changed in the same transactions: quotas are checked against them. Deleted files count no file.
CREATE TABLE storage_totals (
    organization_id BLOB NOT NULL PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    files BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
INSERT INTO storage_totals
SELECT organization_id, sum(CASE WHEN withdrawn_at IS NULL THEN 1 ELSE 0 END), sum(bytes)
FROM files
GROUP BY organization_id;
