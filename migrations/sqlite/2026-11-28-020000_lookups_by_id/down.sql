DROP INDEX index_runs_of_organization_by_state;
DROP INDEX uploads_of_organization;
DROP INDEX files_of_organization_by_document;
CREATE INDEX research_events_of_organization ON research_events (organization_id);
CREATE INDEX captures_of_organization ON captures (organization_id);
