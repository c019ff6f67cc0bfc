//! Crawls of sites on loopback.
#![expect(clippy::unwrap_used, reason = "a test may end early")]

mod bounds;
mod directives;
mod hostile;
mod instances;
mod kills;
mod polite;
mod refresh;
mod rounds;
mod scripted;
mod sitemaps;
mod world;
