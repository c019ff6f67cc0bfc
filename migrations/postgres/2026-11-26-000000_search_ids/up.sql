-- Debits and refunds of a search.
CREATE INDEX balance_entries_of_search ON balance_entries (search_id, organization_id, created_at) WHERE search_id IS NOT NULL;

-- File of a document.
CREATE INDEX files_of_document ON files (doc_id);
