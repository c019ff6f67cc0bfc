use std::sync::Arc;

use crate::client::Client;
use crate::options::FetcherOptions;
use crate::permits::Permits;
use crate::robots::RobotsCache;

/// Parts that all fetches of a fetcher use.
pub(crate) struct Shared {
    pub client: Arc<Client>,
    /// `None` if robots.txt is ignored.
    pub robots: Option<RobotsCache>,
    pub permits: Permits,
    pub options: FetcherOptions,
}
