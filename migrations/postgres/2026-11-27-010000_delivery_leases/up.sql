-- Counts the deliveries in progress, among any number that wait.
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
