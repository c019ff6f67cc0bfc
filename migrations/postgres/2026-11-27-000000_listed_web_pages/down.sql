DROP INDEX listed_web_pages;
