-- Audit log of organizations, keys and balances. Written in the transaction of the change, never changed or deleted.
-- organization_id is no foreign key, because entries outlive the organization.
CREATE TABLE audit_entries (
    id UUID NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    organization_id UUID,
    subject_id UUID,
    details TEXT NOT NULL
);
CREATE INDEX audit_entries_by_time ON audit_entries (created_at, id);
CREATE INDEX audit_entries_of_organization ON audit_entries (organization_id, created_at, id);
