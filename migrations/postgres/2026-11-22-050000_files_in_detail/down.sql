DROP TABLE run_files;
DROP INDEX files_by_name;
ALTER TABLE files ALTER COLUMN name TYPE TEXT COLLATE "default";
ALTER TABLE files DROP COLUMN original_name;
ALTER TABLE files DROP COLUMN processed_at;
ALTER TABLE files DROP COLUMN labels;
