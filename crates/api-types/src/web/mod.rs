//! Crawls and pages of the shared web index, for its operator.

mod crawls;
mod pages;
mod stats;

pub use crawls::{
    WebCrawlCreateRequest, WebCrawlDeleteResponse, WebCrawlEntry, WebCrawlListResponse, WebCrawlOutcomes,
    WebCrawlReason, WebCrawlReportResponse, WebCrawlResponse, WebCrawlSettings, WebCrawlState, WebSitemaps,
};
pub use pages::{
    WebPageEntry, WebPageListResponse, WebPageRefresh, WebPagesRefreshRequest, WebPagesRefreshResponse,
    WebPagesRemoveRequest, WebPagesRemoveResponse,
};
pub use stats::{WebHost, WebStatsResponse};
