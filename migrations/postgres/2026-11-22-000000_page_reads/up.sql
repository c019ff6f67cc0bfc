-- Web pages as organizations read them by URL. `documents` holds the shared ones; the row of a page that is not listed only
-- anchors foreign keys. latest_capture_id is NULL until the page is read.
CREATE TABLE page_reads (
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    doc_id UUID NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    source_url TEXT NOT NULL,
    title TEXT,
    description TEXT,
    mime TEXT,
    language TEXT,
    labels TEXT NOT NULL,
    published_at BIGINT,
    first_seen_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    last_crawled_at BIGINT,
    stale_at BIGINT,
    latest_capture_id UUID,
    PRIMARY KEY (organization_id, doc_id)
);
CREATE INDEX page_reads_of_document ON page_reads (doc_id);

-- Organization that may read the capture; NULL for captures of the shared web.
ALTER TABLE captures ADD COLUMN organization_id UUID REFERENCES organizations (id) ON DELETE CASCADE;
CREATE INDEX captures_of_organization ON captures (organization_id);
UPDATE captures SET organization_id = (SELECT d.organization_id FROM documents d WHERE d.doc_id = captures.doc_id);

-- Each organization that read an unlisted page keeps it: one of them the stored capture, the others a copy.
INSERT INTO page_reads
SELECT g.organization_id, g.doc_id, d.source_url, d.title, d.description, d.mime, d.language, d.labels, d.published_at,
    g.granted_at, g.granted_at, NULL, d.stale_at,
    CASE
        WHEN d.latest_capture_id IS NULL THEN NULL
        WHEN g.organization_id =
            (SELECT f.organization_id FROM grants f WHERE f.doc_id = g.doc_id ORDER BY f.organization_id LIMIT 1)
        THEN d.latest_capture_id
        ELSE gen_random_uuid()
    END
FROM grants g JOIN documents d ON d.doc_id = g.doc_id
WHERE d.organization_id IS NULL AND NOT d.listed;
UPDATE captures
SET organization_id = (SELECT r.organization_id FROM page_reads r WHERE r.latest_capture_id = captures.capture_id)
WHERE doc_id IN (SELECT doc_id FROM page_reads);
INSERT INTO captures (capture_id, doc_id, captured_at, format, content_digest, content, headings, fetched_from, etag,
    last_modified, organization_id)
SELECT r.latest_capture_id, c.doc_id, c.captured_at, c.format, c.content_digest, c.content, c.headings, c.fetched_from, c.etag,
    c.last_modified, r.organization_id
FROM page_reads r
JOIN documents d ON d.doc_id = r.doc_id AND d.latest_capture_id <> r.latest_capture_id
JOIN captures c ON c.capture_id = d.latest_capture_id;

-- Passage ids follow from the content, so captures of two organizations have the same ones.
ALTER TABLE passages DROP CONSTRAINT passages_pkey;
DROP INDEX passages_of_capture;
ALTER TABLE passages ADD PRIMARY KEY (capture_id, ordinal);
INSERT INTO passages (passage_id, doc_id, capture_id, ordinal, byte_start, byte_end, char_start, char_end, section_path)
SELECT p.passage_id, p.doc_id, r.latest_capture_id, p.ordinal, p.byte_start, p.byte_end, p.char_start, p.char_end,
    p.section_path
FROM page_reads r
JOIN documents d ON d.doc_id = r.doc_id AND d.latest_capture_id <> r.latest_capture_id
JOIN passages p ON p.capture_id = d.latest_capture_id;

-- The row of an unlisted page says nothing about its readers.
DELETE FROM documents
WHERE organization_id IS NULL AND NOT listed AND doc_id NOT IN (SELECT doc_id FROM page_reads);
UPDATE documents
SET source_url = canonical_url, title = NULL, description = NULL, mime = NULL, language = NULL, country = NULL, labels = '[]',
    published_at = NULL, first_seen_at = 0, last_seen_at = 0, last_crawled_at = NULL, latest_capture_id = NULL
WHERE organization_id IS NULL AND NOT listed;
ALTER TABLE documents DROP COLUMN stale_at;

-- A B-tree cannot hold URLs as long as the service accepts.
ALTER TABLE documents DROP CONSTRAINT documents_canonical_url_key;
CREATE UNIQUE INDEX documents_canonical_url ON documents (md5(canonical_url));
