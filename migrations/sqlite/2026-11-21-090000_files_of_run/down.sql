DROP INDEX files_of_run;
