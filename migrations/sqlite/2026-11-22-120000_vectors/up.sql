-- Vectors of the passages of a capture, of one model. Incomplete ones, and those of a capture that another one has replaced, only
-- serve to embed no text twice.
CREATE TABLE capture_vectors (
    capture_id BLOB NOT NULL REFERENCES captures (capture_id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    passages BLOB NOT NULL,
    complete BOOLEAN NOT NULL,
    -- First 8 bytes of the digest of the content that was embedded.
    content_key BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (capture_id, model)
);
CREATE INDEX capture_vectors_of_content ON capture_vectors (content_key);

-- Documents whose latest capture waits to be embedded.
CREATE TABLE embedding_jobs (
    doc_id BLOB NOT NULL PRIMARY KEY REFERENCES documents (doc_id) ON DELETE CASCADE,
    organization_id BLOB REFERENCES organizations (id) ON DELETE CASCADE,
    enqueued_at BIGINT NOT NULL,
    -- Attempts at which the model rejected a text.
    attempts INTEGER NOT NULL,
    -- End of the pause after an attempt, or of the lease.
    not_before BIGINT NOT NULL,
    lease_owner TEXT
);
CREATE INDEX embedding_jobs_by_time ON embedding_jobs (enqueued_at);
CREATE INDEX embedding_jobs_of_organization ON embedding_jobs (organization_id, enqueued_at);
CREATE INDEX leased_embedding_jobs ON embedding_jobs (lease_owner) WHERE lease_owner IS NOT NULL;

-- Model whose vectors an index has; NULL for none. After a change, documents are queued in the order of their ids.
CREATE TABLE index_models (
    index_name TEXT NOT NULL PRIMARY KEY,
    model TEXT,
    queued_to BLOB,
    queued BOOLEAN NOT NULL
);
