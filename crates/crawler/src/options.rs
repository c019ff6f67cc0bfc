use std::time::Duration;

use docstore::CrawlLimits;

use crate::pace::PaceLimits;
use crate::plan::Plan;

/// Returns the limits of a crawl with this plan.
pub fn limits(plan: &Plan) -> CrawlLimits {
    CrawlLimits {
        queries_per_path: 2_000,
        same_content: 50,
        shortest_interval: plan.every().unwrap_or_default(),
        is_depth_bounded: plan.depth.is_some(),
    }
}

#[derive(Clone, Copy, Debug)]
pub struct CrawlerOptions {
    /// Hosts that are visited at a time. Each has one request at a time.
    pub hosts_at_a_time: usize,
    pub pace: PaceLimits,
    /// Lease of a host. After a crash another instance takes over within this time.
    pub lease: Duration,
    /// Interval of looking for due hosts.
    pub poll: Duration,
}
