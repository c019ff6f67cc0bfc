-- Pages read by URL lose their content: it was private to its readers. They are fetched again when they are read.
ALTER TABLE documents ADD COLUMN stale_at BIGINT;
UPDATE documents
SET first_seen_at = coalesce((SELECT min(r.first_seen_at) FROM page_reads r WHERE r.doc_id = documents.doc_id), first_seen_at),
    last_seen_at = coalesce((SELECT max(r.last_seen_at) FROM page_reads r WHERE r.doc_id = documents.doc_id), last_seen_at)
WHERE organization_id IS NULL AND NOT listed;
DELETE FROM captures
WHERE organization_id IS NOT NULL AND doc_id IN (SELECT doc_id FROM documents WHERE organization_id IS NULL);
ALTER TABLE passages DROP CONSTRAINT passages_pkey;
ALTER TABLE passages ADD PRIMARY KEY (passage_id);
CREATE UNIQUE INDEX passages_of_capture ON passages (capture_id, ordinal);
DROP INDEX documents_canonical_url;
ALTER TABLE documents ADD CONSTRAINT documents_canonical_url_key UNIQUE (canonical_url);
DROP INDEX captures_of_organization;
ALTER TABLE captures DROP COLUMN organization_id;
DROP TABLE page_reads;
