-- URLs whose visit the current round waits for, among all of a frontier.
CREATE INDEX crawl_urls_queued ON crawl_urls (crawl_id, state) WHERE queued;
