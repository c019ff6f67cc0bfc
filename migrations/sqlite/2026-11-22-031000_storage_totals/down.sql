DROP TABLE storage_totals;
DROP INDEX files_by_upload_expiry;
ALTER TABLE files DROP COLUMN upload_expires_at;
ALTER TABLE files DROP COLUMN bytes;
