ALTER TABLE organizations DROP COLUMN removed_at;
ALTER TABLE organizations DROP COLUMN deleted_at;
