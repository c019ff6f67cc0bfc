-- When the file was deleted by its owner. Until its object is gone from storage, too, it is neither listed nor read.
ALTER TABLE files ADD COLUMN withdrawn_at BIGINT;
