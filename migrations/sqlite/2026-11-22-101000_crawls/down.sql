DROP TABLE crawl_counts;
DROP TABLE crawl_hosts;
DROP TABLE crawl_queues;
DROP TABLE crawl_urls;
DROP TABLE crawls;
