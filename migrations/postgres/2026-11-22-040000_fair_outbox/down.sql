DROP INDEX index_runs_by_state;
DROP INDEX outbox_of_organization;
ALTER TABLE outbox DROP COLUMN organization_id;
