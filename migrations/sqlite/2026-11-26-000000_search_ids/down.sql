DROP INDEX files_of_document;
DROP INDEX balance_entries_of_search;
