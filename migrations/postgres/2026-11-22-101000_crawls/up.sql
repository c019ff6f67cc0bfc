-- Crawls of the shared web index. Each has a frontier, `crawl_urls`.
CREATE TABLE crawls (
    crawl_id UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- JSON: seeds, depth, patterns, sitemaps, interval.
    settings TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Start of the current round, which visits every URL.
    started_at BIGINT NOT NULL,
    finished_at BIGINT,
    -- Maximum number of listed pages.
    page_limit BIGINT,
    -- Maximum number of URLs in the frontier.
    url_limit BIGINT NOT NULL,
    urls BIGINT NOT NULL,
    -- URLs whose visit the current round waits for.
    queued BIGINT NOT NULL,
    pages BIGINT NOT NULL
);

-- URLs of a crawl. A visit, its links and its document are one transaction.
CREATE TABLE crawl_urls (
    crawl_id UUID NOT NULL REFERENCES crawls (crawl_id) ON DELETE CASCADE,
    -- Id of the document at the URL.
    url_id UUID NOT NULL,
    url TEXT NOT NULL,
    -- Name, with the port unless it is the scheme's.
    host TEXT NOT NULL,
    kind TEXT NOT NULL,
    depth INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    -- Links from pages of the same pattern on the way here.
    chain INTEGER NOT NULL,
    -- Hash of host and path of a URL with parameters.
    path_key BIGINT,
    state TEXT NOT NULL,
    reason TEXT,
    -- Target of a redirect or of rel=canonical.
    target_id UUID,
    -- True if the current round waits for the visit.
    queued BOOLEAN NOT NULL,
    -- Time of the next visit. First visits have their priority here, so that one index orders all.
    next_fetch_at BIGINT,
    -- Failed attempts since the last response of use.
    attempts INTEGER NOT NULL,
    -- 404 and 410 responses in a row.
    missing INTEGER NOT NULL,
    fetched_at BIGINT,
    changed_at BIGINT,
    visits INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    interval_seconds BIGINT,
    fetched_from TEXT,
    etag TEXT,
    last_modified TEXT,
    content_digest TEXT,
    PRIMARY KEY (crawl_id, url_id)
);
CREATE INDEX crawl_urls_due ON crawl_urls (crawl_id, host, next_fetch_at);
CREATE INDEX crawl_urls_of_document ON crawl_urls (url_id);
CREATE INDEX crawl_urls_with_parameters ON crawl_urls (crawl_id, path_key) WHERE path_key IS NOT NULL;
CREATE INDEX crawl_urls_by_target ON crawl_urls (crawl_id, target_id) WHERE target_id IS NOT NULL;
CREATE INDEX crawl_urls_by_content ON crawl_urls (crawl_id, content_digest) WHERE content_digest IS NOT NULL;

-- Earliest visit of each host of a crawl.
CREATE TABLE crawl_queues (
    crawl_id UUID NOT NULL REFERENCES crawls (crawl_id) ON DELETE CASCADE,
    host TEXT NOT NULL,
    next_at BIGINT,
    PRIMARY KEY (crawl_id, host)
);
CREATE INDEX crawl_queues_due ON crawl_queues (next_at);

-- Politeness towards a host, shared by all crawls and instances.
CREATE TABLE crawl_hosts (
    host TEXT NOT NULL PRIMARY KEY,
    next_request_at BIGINT NOT NULL,
    -- Smoothed response time.
    response_millis BIGINT NOT NULL,
    -- Failures in a row that call for back-off.
    failures INTEGER NOT NULL,
    claimed_at BIGINT NOT NULL,
    lease_owner TEXT,
    lease_expires_at BIGINT
);

-- Numbers of URLs by state and reason, and of links that were not followed.
CREATE TABLE crawl_counts (
    crawl_id UUID NOT NULL REFERENCES crawls (crawl_id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    count BIGINT NOT NULL,
    example TEXT,
    PRIMARY KEY (crawl_id, kind, reason)
);
