//! Sources of web results of this deployment.

use std::sync::Arc;
use std::time::Duration;

use docstore::StoreError;
use futures_util::FutureExt;

use crate::App;
use crate::error::Result;
use crate::shared_task::SharedTask;

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

/// Last answer of the database, true for pages, so that few requests ask it.
pub(crate) type HasPages = SharedTask<Result<bool, Arc<StoreError>>>;

impl App {
    /// Returns the sources of web results, as of the last seconds.
    pub async fn web_state(&self) -> Result<WebState> {
        let lifetime = |outcome: &Result<bool, _>| match outcome {
            Ok(true) => FILLED_TTL,
            Ok(false) => EMPTY_TTL,
            Err(_) => Duration::ZERO,
        };
        let store = self.store.clone();
        let ask = || async move { store.has_web_pages().await.map_err(Arc::new) }.boxed();
        let has_pages = self.has_web_pages.join(self.clock.now(), lifetime, ask).outcome.await?;
        Ok(WebState { index_is_empty: !has_pages, has_providers: self.has_web_providers() })
    }

    /// Returns true if search providers complement the web index.
    pub fn has_web_providers(&self) -> bool {
        !self.web.is_empty()
    }
}
