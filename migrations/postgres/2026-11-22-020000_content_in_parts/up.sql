-- Directory of a content that is stored in parts: captures.content is then its first part, capture_parts has the others.
-- NULL for a content that is stored whole.
ALTER TABLE captures ADD COLUMN parts TEXT;
CREATE TABLE capture_parts (
    capture_id UUID NOT NULL REFERENCES captures (capture_id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (capture_id, part)
);
-- For the words of a divided content: the parts that contain them.
CREATE TABLE capture_terms (
    capture_id UUID NOT NULL REFERENCES captures (capture_id) ON DELETE CASCADE,
    bucket INTEGER NOT NULL,
    lists BYTEA NOT NULL,
    PRIMARY KEY (capture_id, bucket)
);
-- Long contents are divided when the outbox is worked off.
INSERT INTO outbox (index_name, doc_id, created_at)
SELECT CASE WHEN d.organization_id IS NULL THEN 'web' ELSE 'workspace' END, d.doc_id, d.last_seen_at
FROM documents d JOIN captures c ON c.capture_id = d.latest_capture_id
WHERE d.listed AND d.removed_at IS NULL AND length(c.content) > 65536;
