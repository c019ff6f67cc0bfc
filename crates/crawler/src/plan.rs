//! Plan of a crawl: what the operator asked for.

use std::time::Duration;

use docstore::Crawl;
use retrieval_core::url::UrlError;
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
    #[error("{source}")]
    Url { index: usize, source: UrlError },
    #[error("{source}")]
    Include { index: usize, source: PatternError },
    #[error("{source}")]
    Exclude { index: usize, source: PatternError },
    #[error("the interval must be at least one second and at most a year")]
    Interval,
    #[error("at most {max} items are allowed, not {count}")]
    TooMany { field: &'static str, max: usize, count: usize },
    #[error("at most {MAX_DEPTH} is allowed, not {0}")]
    Depth(u32),
}

impl PlanError {
    /// Returns the field of the refused value, as requests name it.
    pub fn field(&self) -> String {
        match self {
            Self::NoSeeds => "urls".to_owned(),
            Self::Url { index, .. } => format!("urls[{index}]"),
            Self::Include { index, .. } => format!("include[{index}]"),
            Self::Exclude { index, .. } => format!("exclude[{index}]"),
            Self::Interval => "every_seconds".to_owned(),
            Self::TooMany { field, .. } => (*field).to_owned(),
            Self::Depth(_) => "depth".to_owned(),
        }
    }
}

/// Longest interval that a plan may have.
const LONGEST: u64 = 366 * 24 * 60 * 60;
/// Maximum number of seeds.
const MAX_SEEDS: usize = 100;
/// Maximum number of patterns in each list.
const MAX_PATTERNS: usize = 100;
/// Largest maximum number of links.
const MAX_DEPTH: u32 = 1_000_000;

impl Plan {
    /// Checks the plan and canonicalizes its seeds.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn checked(mut self) -> Result<Self, PlanError> {
        if self.seeds.is_empty() {
            return Err(PlanError::NoSeeds);
        }
        for (index, seed) in self.seeds.iter_mut().enumerate() {
            *seed = Address::exact(seed).map_err(|source| PlanError::Url { index, source })?.url;
        }
        for (index, pattern) in self.include.iter().enumerate() {
            Pattern::parse(pattern).map_err(|source| PlanError::Include { index, source })?;
        }
        for (index, pattern) in self.exclude.iter().enumerate() {
            Pattern::parse(pattern).map_err(|source| PlanError::Exclude { index, source })?;
        }
        if self.every_seconds.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
            return Err(PlanError::Interval);
        }
        Ok(self)
    }

    /// Checks the numbers of URLs, patterns and links. A number may be as large as in `stored`, the earlier plan of the same crawl.
    ///
    /// # Errors
    /// [`PlanError::TooMany`] and [`PlanError::Depth`].
    pub fn within_limits(&self, stored: &Self) -> Result<(), PlanError> {
        let lists = [
            ("urls", MAX_SEEDS, &self.seeds, &stored.seeds),
            ("include", MAX_PATTERNS, &self.include, &stored.include),
            ("exclude", MAX_PATTERNS, &self.exclude, &stored.exclude),
        ];
        for (field, max, list, stored) in lists {
            if list.len() > max.max(stored.len()) {
                return Err(PlanError::TooMany { field, max, count: list.len() });
            }
        }
        match self.depth {
            Some(depth) if depth > MAX_DEPTH.max(stored.depth.unwrap_or(0)) => Err(PlanError::Depth(depth)),
            _ => Ok(()),
        }
    }

    /// Returns the plan that a crawl was started with.
    pub fn of(crawl: &Crawl) -> Option<Self> {
        serde_json::from_str(&crawl.settings).ok()
    }

    pub fn every(&self) -> Option<Duration> {
        self.every_seconds.map(Duration::from_secs)
    }
}
