DROP INDEX page_reads_by_time;
DROP INDEX grants_by_time;
DROP INDEX feedback_by_time;
DROP INDEX searches_by_time;
