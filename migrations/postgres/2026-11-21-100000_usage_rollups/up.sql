-- Requests per hour or day (period, in milliseconds), identity and route, for the usage overview. usage_events are the
-- single requests, kept for a limited time. histogram counts durations.
CREATE TABLE usage_rollups (
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    period BIGINT NOT NULL,
    start BIGINT NOT NULL,
    identity TEXT NOT NULL,
    route TEXT NOT NULL,
    requests BIGINT NOT NULL,
    client_errors BIGINT NOT NULL,
    server_errors BIGINT NOT NULL,
    duration_us BIGINT NOT NULL,
    spend_cents BIGINT NOT NULL,
    histogram BYTEA NOT NULL,
    PRIMARY KEY (organization_id, period, start, identity, route)
);
CREATE INDEX usage_events_by_time ON usage_events (created_at);
-- Credential of a charge; NULL for payments.
ALTER TABLE balance_entries ADD COLUMN identity TEXT;
