-- Time of deletion by the owner. Withdrawn files are neither listed nor read until their object is deleted.
ALTER TABLE files ADD COLUMN withdrawn_at BIGINT;
