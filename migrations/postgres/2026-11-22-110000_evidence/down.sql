ALTER TABLE searches DROP COLUMN details;
ALTER TABLE searches DROP COLUMN request;
ALTER TABLE grants DROP COLUMN capture_id;
DELETE FROM captures WHERE superseded_at IS NOT NULL;
DROP INDEX superseded_captures;
ALTER TABLE captures DROP COLUMN kept_until;
ALTER TABLE captures DROP COLUMN superseded_at;
