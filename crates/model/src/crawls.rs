use crate::names::named_enum;

named_enum! {
    /// Intent of the operator for a crawl.
    CrawlStatus: "crawl status" {
        Running = "running",
        Stopped = "stopped",
    }
}

named_enum! {
    /// The use of a crawled URL.
    CrawlUrlKind: "kind of crawled URL" {
        Page = "page",
        /// Sitemap or feed: its links are read, and it is never listed.
        Sitemap = "sitemap",
    }
}

named_enum! {
    /// The result of the last visit to a crawled URL.
    CrawlUrlState: "state of a crawled URL" {
        /// Never visited to the end.
        New = "new",
        /// In the shared web index, or for a sitemap: read.
        Listed = "listed",
        /// Reachable, but not to be listed.
        Skipped = "skipped",
        Failed = "failed",
        /// Removed after repeated 404 or 410 responses.
        Gone = "gone",
        Redirected = "redirected",
    }
}
