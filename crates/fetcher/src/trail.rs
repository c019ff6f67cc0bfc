//! The way of one fetch through redirects.

use std::collections::HashSet;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION};

use crate::error::FetchError;
use crate::targets::{Target, TargetPolicy};

/// Counts the redirects of one fetch, and knows where it has been.
pub(crate) struct Trail {
    /// No cookies are kept, so a page that sends us back to itself would do so for ever.
    visited: HashSet<String>,
    /// Redirects that may be followed.
    limit: usize,
}

impl Trail {
    pub fn new(start: &Target, limit: usize) -> Self {
        Self { visited: HashSet::from([start.url().to_string()]), limit }
    }

    /// Where an answer with `headers` to the request for `from` leads.
    ///
    /// # Errors
    /// Those of [`Target::redirected`], `TooManyRedirects`, `RedirectLoop`; `Protocol` where no place is named.
    pub fn follow(&mut self, from: &Target, headers: &HeaderMap, policy: &TargetPolicy) -> Result<Target, FetchError> {
        let location = headers.get(LOCATION).ok_or(FetchError::Protocol { reason: "redirects to nowhere" })?;
        let next = from.redirected(location.as_bytes(), policy)?;
        if !self.visited.insert(next.url().to_string()) {
            return Err(FetchError::RedirectLoop);
        }
        if self.redirects() > self.limit {
            return Err(FetchError::TooManyRedirects { limit: self.limit });
        }
        Ok(next)
    }

    /// Redirects followed until now.
    pub fn redirects(&self) -> usize {
        self.visited.len() - 1
    }
}

/// Whether an answer with this status sends us elsewhere.
pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}
