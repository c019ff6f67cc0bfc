-- True for documents in a search index: imported web pages and all workspace documents. Pages read by URL are not listed,
-- because a URL may be a secret.
ALTER TABLE documents ADD COLUMN listed BOOLEAN NOT NULL DEFAULT TRUE;
-- Time of the last report of stale content. Older captures are fetched again.
ALTER TABLE documents ADD COLUMN stale_at BIGINT;
-- For fetched captures: the URL after redirects, and the server's validators.
ALTER TABLE captures ADD COLUMN fetched_from TEXT;
ALTER TABLE captures ADD COLUMN etag TEXT;
ALTER TABLE captures ADD COLUMN last_modified TEXT;
