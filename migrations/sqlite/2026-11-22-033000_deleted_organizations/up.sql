-- A deleted organization is refused from deleted_at on. Its data is removed in batches until removed_at; its row, its ledger
-- and its audit entries remain.
ALTER TABLE organizations ADD COLUMN deleted_at BIGINT;
ALTER TABLE organizations ADD COLUMN removed_at BIGINT;
