ALTER TABLE captures DROP COLUMN last_modified;
ALTER TABLE captures DROP COLUMN etag;
ALTER TABLE captures DROP COLUMN fetched_from;
ALTER TABLE documents DROP COLUMN stale_at;
ALTER TABLE documents DROP COLUMN listed;
