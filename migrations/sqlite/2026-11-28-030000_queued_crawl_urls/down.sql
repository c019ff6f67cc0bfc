DROP INDEX crawl_urls_queued;
