CREATE TABLE organizations (
    id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    billed BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    digest BYTEA NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    limit_rps INTEGER,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);
CREATE INDEX api_keys_of_organization ON api_keys (organization_id, created_at);

CREATE TABLE balances (
    organization_id UUID NOT NULL PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    cents BIGINT NOT NULL CHECK (cents >= 0)
);

-- Ledger of balances. The sum of an organization's entries is its balance.
CREATE TABLE balance_entries (
    id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    cents BIGINT NOT NULL,
    reason TEXT NOT NULL,
    search_id UUID,
    created_at BIGINT NOT NULL
);
CREATE INDEX balance_entries_of_organization ON balance_entries (organization_id, created_at);

-- organization_id is NULL for the shared web corpus, else the owner of the workspace document.
CREATE TABLE documents (
    doc_id UUID NOT NULL PRIMARY KEY,
    organization_id UUID REFERENCES organizations (id) ON DELETE CASCADE,
    canonical_url TEXT NOT NULL UNIQUE,
    source_url TEXT NOT NULL,
    source_uri TEXT,
    title TEXT,
    description TEXT,
    mime TEXT,
    language TEXT,
    country TEXT,
    labels TEXT NOT NULL,
    published_at BIGINT,
    first_seen_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    last_crawled_at BIGINT,
    latest_capture_id UUID,
    removed_at BIGINT
);
CREATE INDEX documents_of_organization ON documents (organization_id, doc_id);

CREATE TABLE captures (
    capture_id UUID NOT NULL PRIMARY KEY,
    doc_id UUID NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    captured_at BIGINT NOT NULL,
    format TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    content TEXT NOT NULL,
    headings TEXT NOT NULL
);
CREATE INDEX captures_of_document ON captures (doc_id);

-- A passage is the slice [byte_start, byte_end) of its capture's content.
CREATE TABLE passages (
    passage_id UUID NOT NULL PRIMARY KEY,
    doc_id UUID NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    capture_id UUID NOT NULL REFERENCES captures (capture_id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    char_start INTEGER NOT NULL,
    char_end INTEGER NOT NULL,
    section_path TEXT NOT NULL
);
CREATE INDEX passages_of_document ON passages (doc_id);
CREATE UNIQUE INDEX passages_of_capture ON passages (capture_id, ordinal);

CREATE TABLE grants (
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    doc_id UUID NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    granted_at BIGINT NOT NULL,
    PRIMARY KEY (organization_id, doc_id)
);
CREATE INDEX grants_of_document ON grants (doc_id);

CREATE TABLE searches (
    search_id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    session_id UUID NOT NULL,
    query TEXT NOT NULL,
    results TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX searches_of_organization ON searches (organization_id, created_at);

CREATE TABLE feedback (
    feedback_id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    session_id UUID NOT NULL,
    event_type TEXT NOT NULL,
    search_id UUID,
    doc_id UUID,
    passage_id UUID,
    comment TEXT,
    query TEXT,
    result_rank INTEGER,
    client_model TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX feedback_of_organization ON feedback (organization_id, created_at);

-- Rows are created at presign; only storage knows whether the object exists.
-- processed_* describe the object as of its last complete read.
CREATE TABLE files (
    object_key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    doc_id UUID NOT NULL,
    content_type TEXT,
    created_at BIGINT NOT NULL,
    processed_etag TEXT,
    processed_size BIGINT,
    outcome TEXT,
    reason TEXT,
    last_run_id UUID
);
CREATE INDEX files_of_organization ON files (organization_id, object_key);

CREATE TABLE index_runs (
    sync_id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    error TEXT,
    enumerated BIGINT NOT NULL DEFAULT 0,
    fetched BIGINT NOT NULL DEFAULT 0,
    indexed BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    skipped_unsupported BIGINT NOT NULL DEFAULT 0,
    deleted BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_expires_at BIGINT
);
CREATE INDEX index_runs_of_organization ON index_runs (organization_id, requested_at);
-- At most one run in flight and one queued per organization.
CREATE UNIQUE INDEX one_queued_run ON index_runs (organization_id) WHERE state = 'queued';
CREATE UNIQUE INDEX one_run_in_flight ON index_runs (organization_id) WHERE state IN ('planning', 'running');

-- Documents to reindex, in order. Written in the transaction that changes the document; processed at least once.
CREATE TABLE outbox (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    index_name TEXT NOT NULL,
    doc_id UUID NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX outbox_of_index ON outbox (index_name, id);

-- Locks for work that only one process may do at a time.
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE usage_events (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    identity TEXT NOT NULL,
    route TEXT NOT NULL,
    status INTEGER NOT NULL,
    duration_us BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX usage_events_of_organization ON usage_events (organization_id, created_at);
