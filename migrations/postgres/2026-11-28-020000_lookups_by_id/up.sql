-- Unfinished runs of an organization, among any number of finished ones.
CREATE INDEX index_runs_of_organization_by_state ON index_runs (organization_id, state);
