-- Without statistics, SQLite takes the rows of one organization, or those of none, for as few as the rows of one id, and read all of them
-- to find some captures or events by their ids. No query looks for them by their organization alone.
DROP INDEX captures_of_organization;
DROP INDEX research_events_of_organization;

-- Files of an organization by document, and those with an upload that may still come.
CREATE INDEX files_of_organization_by_document ON files (organization_id, doc_id);
CREATE INDEX uploads_of_organization ON files (organization_id, upload_expires_at) WHERE upload_expires_at IS NOT NULL;

-- Unfinished runs of an organization, among any number of finished ones.
CREATE INDEX index_runs_of_organization_by_state ON index_runs (organization_id, state);
