//! Records of searches.

use docstore::ResultDetails;
use model::{DocId, Generation, IndexName, SearchId, SessionId, Timestamp};

use crate::error::Result;
use crate::{App, Error, Viewer};

/// A search as it was recorded.
#[derive(Clone, Debug)]
pub struct RecordedSearch {
    pub search_id: SearchId,
    pub session_id: SessionId,
    pub created_at: Timestamp,
    pub query: String,
    /// The request as it was sent, in JSON; `None` if it was very long.
    pub request: Option<String>,
    /// Empty in records of earlier versions.
    pub ranker_version: String,
    pub generations: Vec<(IndexName, Generation)>,
    pub degraded: bool,
    /// Best first.
    pub results: Vec<RecordedResult>,
}

#[derive(Clone, Debug)]
pub struct RecordedResult {
    pub doc_id: DocId,
    /// `None` in records of earlier versions.
    pub details: Option<ResultDetails>,
}

impl App {
    /// Returns a search of the viewer's organization, as long as it is kept.
    ///
    /// # Errors
    /// `SearchNotFound` for a malformed or unknown id, or one of another organization.
    pub async fn recorded_search(&self, viewer: &Viewer, search_id: &str) -> Result<RecordedSearch> {
        let search_id: SearchId = search_id.parse().map_err(|_| Error::SearchNotFound)?;
        let found = self.store.find_search(viewer.organization_id, search_id).await?;
        let search = found.ok_or(Error::SearchNotFound)?;
        let details = search.details.unwrap_or_default();
        let mut of_results = details.results.into_iter();
        let results = search.results.into_iter().map(|doc_id| RecordedResult { doc_id, details: of_results.next() });
        Ok(RecordedSearch {
            search_id,
            session_id: search.session_id,
            created_at: search.created_at,
            query: search.query,
            request: search.request,
            ranker_version: details.ranker_version,
            generations: details.generations,
            degraded: details.degraded,
            results: results.collect(),
        })
    }
}
