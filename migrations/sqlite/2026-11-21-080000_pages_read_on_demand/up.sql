-- Whether a web page belongs into the shared web index: those that an operator imported do, those that somebody read by
-- their address do not, for an address may be a secret. A workspace document always belongs into its workspace's.
ALTER TABLE documents ADD COLUMN listed BOOLEAN NOT NULL DEFAULT TRUE;
-- When somebody said that the content is out of date: a capture from before that is fetched anew.
ALTER TABLE documents ADD COLUMN stale_at BIGINT;
-- Of a capture that was fetched: where it was found behind all redirects, and what its server called that state.
ALTER TABLE captures ADD COLUMN fetched_from TEXT;
ALTER TABLE captures ADD COLUMN etag TEXT;
ALTER TABLE captures ADD COLUMN last_modified TEXT;
