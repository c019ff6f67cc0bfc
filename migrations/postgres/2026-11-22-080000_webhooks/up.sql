-- Addresses of an organization that receive its events. The secrets sign deliveries, so they are stored as they are.
CREATE TABLE webhooks (
    webhook_id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    event_types TEXT NOT NULL,
    secret TEXT NOT NULL,
    -- Also signs until it expires, after a rotation.
    previous_secret TEXT,
    previous_secret_expires_at BIGINT,
    created_at BIGINT NOT NULL,
    -- First failure since the last success.
    failing_since BIGINT,
    last_error TEXT,
    disabled_at BIGINT,
    disabled_reason TEXT
);
CREATE INDEX webhooks_of_organization ON webhooks (organization_id, created_at);

-- Events to deliver. A delivered or abandoned one is deleted. A delivery to a single address has no webhook.
CREATE TABLE webhook_deliveries (
    delivery_id UUID NOT NULL PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    webhook_id UUID REFERENCES webhooks (webhook_id) ON DELETE CASCADE,
    url TEXT,
    secret TEXT,
    event_type TEXT NOT NULL,
    payload TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    lease_owner TEXT,
    lease_expires_at BIGINT,
    last_error TEXT,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhook_deliveries_of_organization ON webhook_deliveries (organization_id, next_attempt_at);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (next_attempt_at);
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id);
