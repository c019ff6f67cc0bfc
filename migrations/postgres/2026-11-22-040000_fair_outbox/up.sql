-- Organization of the document, so that organizations are indexed in turn; NULL for web pages and for work on whole indexes. No
-- reference: entries outlive their organization, whose documents they remove from the index.
ALTER TABLE outbox ADD COLUMN organization_id uuid;
CREATE INDEX outbox_of_organization ON outbox (index_name, organization_id, id);

-- Runs to claim: most rows are runs that have ended.
CREATE INDEX index_runs_by_state ON index_runs (state, requested_at);
