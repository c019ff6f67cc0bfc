ALTER TABLE files DROP COLUMN withdrawn_etag;
