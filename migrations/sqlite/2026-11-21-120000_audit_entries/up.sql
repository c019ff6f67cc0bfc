-- What was changed of organizations, keys and balances, by whom; written with the change and never changed or deleted. It
-- tells of an organization after that is gone, and so does not refer to it.
CREATE TABLE audit_entries (
    id BLOB NOT NULL PRIMARY KEY,
    created_at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    organization_id BLOB,
    subject_id BLOB,
    details TEXT NOT NULL
);
CREATE INDEX audit_entries_by_time ON audit_entries (created_at, id);
CREATE INDEX audit_entries_of_organization ON audit_entries (organization_id, created_at, id);
