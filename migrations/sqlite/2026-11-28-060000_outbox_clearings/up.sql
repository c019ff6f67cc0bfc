-- Entries that clear an index, among all that wait for it. Their id is nil.
CREATE INDEX outbox_clearings ON outbox (index_name, doc_id) WHERE doc_id = x'00000000000000000000000000000000';
