use docstore::StoreError;

use super::failure_cache::Cause;
use super::{PageError, UnreadableReason};

/// Failure of one read.
#[derive(Clone, Debug)]
pub struct Failure {
    pub error: PageError,
    /// Entry for the failure cache; `None` if the page may be retried at once.
    pub cause: Option<Cause>,
}

impl Failure {
    /// Returns true if too many pages were being read: nothing is known about this one.
    pub fn is_refusal(&self) -> bool {
        matches!(self.error, PageError::Overloaded { .. })
    }

    /// Returns true if the host refused this URL: another one may succeed. False for the statuses that ask for a later request
    /// (408, 425, 429), whatever its URL.
    pub fn is_about_the_url(&self) -> bool {
        let PageError::Unreadable(reason) = &self.error else { return false };
        matches!(reason.status(), Some(400..=499)) && !matches!(reason.status(), Some(408 | 425 | 429))
    }
}

impl From<UnreadableReason> for Failure {
    fn from(reason: UnreadableReason) -> Self {
        Self { error: PageError::Unreadable(reason), cause: Some(reason.into()) }
    }
}

impl From<PageError> for Failure {
    fn from(error: PageError) -> Self {
        Self { error, cause: None }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        PageError::from(error).into()
    }
}
