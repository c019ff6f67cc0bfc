-- Removed pages of the shared web whose content is still stored. All have no organization: with the column, SQLite prefers this index to that
-- of the pages of an organization.
CREATE INDEX removed_web_pages ON documents (organization_id, removed_at)
WHERE organization_id IS NULL AND listed AND removed_at IS NOT NULL AND latest_capture_id IS NOT NULL;
-- Runs that have ended.
CREATE INDEX ended_index_runs ON index_runs (completed_at) WHERE completed_at IS NOT NULL;
