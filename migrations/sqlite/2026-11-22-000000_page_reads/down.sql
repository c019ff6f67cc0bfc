-- Pages read by URL lose their content: it was private to its readers. They are fetched again when they are read.
ALTER TABLE documents ADD COLUMN stale_at BIGINT;
UPDATE documents
SET first_seen_at = coalesce((SELECT min(r.first_seen_at) FROM page_reads r WHERE r.doc_id = documents.doc_id), first_seen_at),
    last_seen_at = coalesce((SELECT max(r.last_seen_at) FROM page_reads r WHERE r.doc_id = documents.doc_id), last_seen_at)
WHERE organization_id IS NULL AND NOT listed;
DELETE FROM captures
WHERE organization_id IS NOT NULL AND doc_id IN (SELECT doc_id FROM documents WHERE organization_id IS NULL);
CREATE TABLE passages_by_id (
    passage_id BLOB NOT NULL PRIMARY KEY,
    doc_id BLOB NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    capture_id BLOB NOT NULL REFERENCES captures (capture_id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    section_path TEXT NOT NULL
);
INSERT INTO passages_by_id
SELECT passage_id, doc_id, capture_id, ordinal, byte_start, byte_end, char_start, char_end, section_path FROM passages;
DROP TABLE passages;
ALTER TABLE passages_by_id RENAME TO passages;
CREATE INDEX passages_of_document ON passages (doc_id);
CREATE UNIQUE INDEX passages_of_capture ON passages (capture_id, ordinal);
DROP INDEX captures_of_organization;
ALTER TABLE captures DROP COLUMN organization_id;
DROP TABLE page_reads;
