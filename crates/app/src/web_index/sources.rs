//! Sources of web results of this deployment.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::Timestamp;

use crate::App;
use crate::error::Result;

/// Time for which an empty index is taken as empty: pages may be on their way.
const EMPTY_TTL: Duration = Duration::from_secs(1);
/// Time for which an index with pages is taken as not empty.
const FILLED_TTL: Duration = Duration::from_secs(60);

/// Sources of web results.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WebState {
    /// True if the shared web index has no pages.
    pub index_is_empty: bool,
    /// True if search providers complement the index.
    pub has_providers: bool,
}

/// Last answer of the database, so that few requests ask it.
#[derive(Default)]
pub(crate) struct Emptiness(Mutex<Option<(Timestamp, bool)>>);

impl Emptiness {
    fn known(&self, now: Timestamp) -> Option<bool> {
        let (at, is_empty) = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        (now < at + if is_empty { EMPTY_TTL } else { FILLED_TTL }).then_some(is_empty)
    }

    fn keep(&self, now: Timestamp, is_empty: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, is_empty));
    }
}

impl App {
    /// Returns the sources of web results, as of the last seconds.
    pub async fn web_state(&self) -> Result<WebState> {
        let now = self.clock.now();
        let index_is_empty = match self.web_emptiness.known(now) {
            Some(is_empty) => is_empty,
            None => {
                let is_empty = self.store.list_web_pages(None, None, 1).await?.is_empty();
                self.web_emptiness.keep(now, is_empty);
                is_empty
            }
        };
        Ok(WebState { index_is_empty, has_providers: !self.web.is_empty() })
    }
}
