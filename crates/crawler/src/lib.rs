#![doc = include_str!("../README.md")]

mod address;
mod crawler;
mod directives;
mod document;
mod feed;
mod html;
mod link_header;
mod options;
mod outcome;
mod outlinks;
mod pace;
mod pattern;
mod plan;
mod reason;
mod revisit;
mod scope;
mod session;
mod signs;
mod soft_404;
mod start;
mod traps;
mod visitor;

pub use address::Address;
pub use crawler::{Crawler, CrawlerParts, IsFull, register_metrics};
pub use options::CrawlerOptions;
pub use pace::PaceLimits;
pub use plan::{Plan, PlanError, Sitemaps};
pub use start::{NewCrawl, SINGLE_PAGES, StartError, begin, refresh, requeue, start};
