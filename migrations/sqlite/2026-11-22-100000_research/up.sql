-- Research runs. A worker leases a run and stores the state after each step.
CREATE TABLE research_runs (
    research_id BLOB NOT NULL PRIMARY KEY,
    organization_id BLOB NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    session_id BLOB NOT NULL,
    -- Credential that created the run; its searches are charged to it.
    identity TEXT NOT NULL,
    query TEXT NOT NULL,
    -- JSON of everything that determines the run.
    request TEXT NOT NULL,
    -- JSON of the state after the last step; empty before the first and after the end.
    state TEXT NOT NULL DEFAULT '',
    -- JSON of the progress, for readers.
    progress TEXT NOT NULL,
    -- JSON of the report.
    output TEXT,
    status TEXT NOT NULL,
    stop_reason TEXT,
    -- JSON of code and message.
    error TEXT,
    metadata TEXT NOT NULL,
    webhook_url TEXT,
    webhook_secret TEXT,
    webhook_events TEXT,
    searches INTEGER NOT NULL,
    documents INTEGER NOT NULL,
    tokens BIGINT NOT NULL,
    -- Sequence of the last event.
    last_sequence BIGINT NOT NULL,
    -- Claims since the last stored step.
    attempts INTEGER NOT NULL,
    lease_owner TEXT,
    lease_expires_at BIGINT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    expires_at BIGINT NOT NULL
);
CREATE INDEX research_runs_of_organization ON research_runs (organization_id, created_at);
CREATE INDEX research_runs_by_status ON research_runs (status, created_at);
CREATE INDEX research_runs_by_expiry ON research_runs (expires_at);

CREATE TABLE research_events (
    research_id BLOB NOT NULL REFERENCES research_runs (research_id) ON DELETE CASCADE,
    -- From 1, without gaps.
    sequence BIGINT NOT NULL,
    organization_id BLOB NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (research_id, sequence)
);
CREATE INDEX research_events_of_organization ON research_events (organization_id);

-- Run that a search belongs to. It remains when the run is deleted.
ALTER TABLE balance_entries ADD COLUMN research_id BLOB;
CREATE INDEX balance_entries_of_research ON balance_entries (research_id);
