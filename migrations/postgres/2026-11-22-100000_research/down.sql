DROP INDEX balance_entries_of_research;
ALTER TABLE balance_entries DROP COLUMN research_id;
DROP TABLE research_events;
DROP TABLE research_runs;
