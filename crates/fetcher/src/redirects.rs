//! Redirect handling of one fetch.

use std::collections::HashSet;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION};

use crate::error::FetchError;
use crate::targets::{Target, TargetPolicy};

/// Redirects followed by one fetch; detects loops and enforces the limit.
pub(crate) struct RedirectChain {
    /// URLs visited so far. Cookies are not kept, so a page that redirects to itself would do so forever.
    visited: HashSet<String>,
    /// Maximum number of redirects.
    limit: usize,
}

impl RedirectChain {
    pub fn new(start: &Target, limit: usize) -> Self {
        Self { visited: HashSet::from([start.url().to_string()]), limit }
    }

    /// Returns the target of a redirect response with `headers` to the request for `from`.
    ///
    /// # Errors
    /// Those of [`Target::redirected`], `TooManyRedirects`, `RedirectLoop`, and `Protocol` without a `Location`.
    pub fn follow(&mut self, from: &Target, headers: &HeaderMap, policy: &TargetPolicy) -> Result<Target, FetchError> {
        let location = headers.get(LOCATION).ok_or(FetchError::Protocol { reason: "redirects without a location" })?;
        let next = from.redirected(location.as_bytes(), policy)?;
        if !self.visited.insert(next.url().to_string()) {
            return Err(FetchError::RedirectLoop);
        }
        if self.count() > self.limit {
            return Err(FetchError::TooManyRedirects { limit: self.limit });
        }
        Ok(next)
    }

    /// Number of redirects followed so far.
    pub fn count(&self) -> usize {
        self.visited.len() - 1
    }
}

/// Returns true if the status is a redirect.
pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Returns true if the status is a redirect whose target replaces the URL (RFC 9110, 15.4).
pub(crate) fn is_permanent(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 308)
}
