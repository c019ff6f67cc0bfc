-- What was asked in an hour or a day (period, in milliseconds), by whom and of which route: what the usage overview is made
-- of. usage_events are the single requests, kept for a while. The histogram is that of durations.
CREATE TABLE usage_rollups (
    organization_id BLOB NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    period BIGINT NOT NULL,
    start BIGINT NOT NULL,
    identity TEXT NOT NULL,
    route TEXT NOT NULL,
    requests BIGINT NOT NULL,
    client_errors BIGINT NOT NULL,
    server_errors BIGINT NOT NULL,
    duration_us BIGINT NOT NULL,
    spend_cents BIGINT NOT NULL,
    histogram BLOB NOT NULL,
    PRIMARY KEY (organization_id, period, start, identity, route)
);
CREATE INDEX usage_events_by_time ON usage_events (created_at);
-- Who spent it; NULL for what was paid in.
ALTER TABLE balance_entries ADD COLUMN identity TEXT;
