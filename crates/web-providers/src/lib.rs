#![doc = include_str!("../README.md")]

#[cfg(feature = "testing")]
pub mod conformance;
mod date;
mod error;
mod query;
mod result;
mod text;

pub use date::parse as parse_date;
pub use error::ProviderError;
pub use query::{TextLimits, WebQuery};
pub use result::{Applied, MAX_RESULTS, MAX_SNIPPET_CHARS, MAX_TITLE_CHARS, WebResponse, WebResult};

use async_trait::async_trait;
use model::Timestamp;

/// Provider of web search results. Shared as `Arc<dyn WebProvider>`.
#[async_trait]
pub trait WebProvider: Send + Sync {
    /// Returns the name in settings, warnings and metrics. It does not reveal the endpoint.
    fn name(&self) -> &'static str;

    /// Searches once, with one request.
    ///
    /// Results are in the provider's order, best first, without duplicates, at most [`MAX_RESULTS`]. Filters that the
    /// provider cannot apply are ignored; [`WebResponse::applied`] names the others. A query without words has no results.
    /// The caller limits the time; dropping the future ends the request.
    ///
    /// # Errors
    /// `ProviderError` when the provider gave no valid answer. Its messages contain neither keys nor addresses.
    async fn search(&self, query: &WebQuery, now: Timestamp) -> Result<WebResponse, ProviderError>;
}
