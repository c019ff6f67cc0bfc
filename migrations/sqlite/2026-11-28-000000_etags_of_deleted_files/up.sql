-- ETag of the object that the last deletion has deleted; NULL if it is unknown. Storage may state times in whole seconds: within the
-- second of withdrawn_at, an object with another ETag is a later upload.
ALTER TABLE files ADD COLUMN withdrawn_etag TEXT;
