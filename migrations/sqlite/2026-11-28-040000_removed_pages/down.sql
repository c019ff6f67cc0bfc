DROP INDEX ended_index_runs;
DROP INDEX removed_web_pages;
