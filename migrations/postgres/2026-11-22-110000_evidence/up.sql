-- A capture that was shown or cited stays when another one replaces it. superseded_at is NULL for a capture in use. kept_until is
-- the time until which a citation keeps it at least.
ALTER TABLE captures ADD COLUMN superseded_at BIGINT;
ALTER TABLE captures ADD COLUMN kept_until BIGINT;
CREATE INDEX superseded_captures ON captures (superseded_at) WHERE superseded_at IS NOT NULL;
-- Capture of the document that was last shown to the organization, of those that it shares with others and of its files.
ALTER TABLE grants ADD COLUMN capture_id UUID;
UPDATE grants SET capture_id = (SELECT d.latest_capture_id FROM documents d WHERE d.doc_id = grants.doc_id);
-- The request as JSON, and the stages that ranked the results. NULL in searches from before this migration.
ALTER TABLE searches ADD COLUMN request TEXT;
ALTER TABLE searches ADD COLUMN details TEXT;
