//! Plan of a crawl: what the operator asked for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::pattern::{Pattern, PatternError};

/// Use of sitemaps and feeds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sitemaps {
    /// Pages of sitemaps and linked pages.
    #[default]
    Auto,
    /// Pages of sitemaps and feeds only; links of pages are not followed.
    Only,
    /// Linked pages only, unless a seed is a sitemap.
    Off,
}

/// Plan of a crawl, as stored with it.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Plan {
    /// Canonical URLs.
    pub seeds: Vec<String>,
    /// Maximum number of links from a seed; `None` for any.
    pub depth: Option<u32>,
    #[serde(default)]
    pub include: Vec<String>,
    #[serde(default)]
    pub exclude: Vec<String>,
    #[serde(default)]
    pub sitemaps: Sitemaps,
    /// Shortest interval between two visits of a page; `None` for one round.
    pub every_seconds: Option<u64>,
}

#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("no URL to crawl")]
    NoSeeds,
    #[error(transparent)]
    Url(#[from] retrieval_core::url::UrlError),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error("the interval must be at least one second and at most a year")]
    Interval,
}

/// Longest interval that a plan may have.
const LONGEST: u64 = 366 * 24 * 60 * 60;

impl Plan {
    /// Checks the plan and canonicalizes its seeds.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn checked(mut self) -> Result<Self, PlanError> {
        if self.seeds.is_empty() {
            return Err(PlanError::NoSeeds);
        }
        for seed in &mut self.seeds {
            *seed = Address::parse(seed)?.url;
        }
        for pattern in self.include.iter().chain(&self.exclude) {
            Pattern::parse(pattern)?;
        }
        if self.every_seconds.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
            return Err(PlanError::Interval);
        }
        Ok(self)
    }

    pub fn every(&self) -> Option<Duration> {
        self.every_seconds.map(Duration::from_secs)
    }
}
