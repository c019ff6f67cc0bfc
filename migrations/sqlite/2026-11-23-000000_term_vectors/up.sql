-- Term vector of the beginning of a document's latest capture, for ranking without its content. It counts only for the capture,
-- the version of the analysis and the title, description and language that it was computed from; otherwise it is computed again.
CREATE TABLE term_vectors (
    doc_id BLOB NOT NULL PRIMARY KEY REFERENCES documents (doc_id) ON DELETE CASCADE,
    capture_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    -- Key of title, description and language.
    text_key BIGINT NOT NULL,
    terms BLOB NOT NULL
);
