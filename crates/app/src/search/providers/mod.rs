//! Web search providers: asks them while the index is searched, and adds their results to its candidates.

mod candidates;
mod filters;
mod found;
mod pace;
mod query;
mod snippets;
mod source;

use std::sync::Arc;
use std::time::Duration;

use engine::SearchEngine;
use model::{Clock, Collection};
use tokio::time::{Instant, timeout_at};
use web_providers::{ProviderError, WebProvider, WebResponse};

use super::candidate::CandidateList;
use super::stage::Stage;
use super::{LEAST_TIME, LOAD_RESERVE, Search};
use crate::error::Result;
use crate::{App, Error};
use source::Source;

/// Name of the shared web index among the providers.
const INDEX: &str = "index";

/// Sources of web results, as the operator configures them.
pub struct WebSources {
    /// True if the shared web index is one of them.
    pub index: bool,
    pub providers: Vec<ProviderSetup>,
    /// Number of the providers' first results that are read in full before ranking.
    pub read_top: usize,
    pub read_timeout: Duration,
}

impl Default for WebSources {
    /// The index alone.
    fn default() -> Self {
        Self { index: true, providers: Vec::new(), read_top: 0, read_timeout: Duration::from_millis(2_500) }
    }
}

/// Provider with the limits on its calls.
pub struct ProviderSetup {
    pub provider: Arc<dyn WebProvider>,
    /// Time for one call, with its wait for a turn.
    pub timeout: Duration,
    /// Requests per second of this process; `None`: as many as are needed.
    pub limit_rps: Option<u32>,
}

/// Provider whose results are missing in an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnavailableProvider {
    pub name: &'static str,
    /// Stable snake_case reason.
    pub reason: &'static str,
}

/// Running sources.
pub struct Web {
    index: bool,
    sources: Vec<Arc<Source>>,
    read_top: usize,
    read_timeout: Duration,
}

impl Web {
    /// Answers of providers are reused for `ttl`. Must be called on a tokio runtime.
    pub fn new(sources: WebSources, ttl: Duration, clock: &Arc<dyn Clock>) -> Self {
        let WebSources { index, providers, read_top, read_timeout } = sources;
        let start = |setup| Arc::new(Source::start(setup, ttl, Arc::clone(clock)));
        Self { index, sources: providers.into_iter().map(start).collect(), read_top, read_timeout }
    }

    /// Returns true if there are no providers.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns each provider's name among the dependencies, and the failure of its last call, which counts for a minute.
    pub fn states(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
        self.sources.iter().map(|source| {
            let name = match source.name() {
                "searxng" => "web_searxng",
                "brave" => "web_brave",
                "http" => "web_http",
                other => other,
            };
            (name, source.recent_failure())
        })
    }
}

impl App {
    /// Returns the candidates of the web: those of the index and the results of the providers. `is_only` is true if no other
    /// collection is searched.
    ///
    /// # Errors
    /// A source that is unavailable fails the search only if there is no other one.
    pub(super) async fn retrieve_web(
        &self,
        engine: Option<&dyn SearchEngine>,
        search: &Search<'_>,
        is_only: bool,
    ) -> Result<CandidateList> {
        let engine = engine.filter(|_| self.web.index);
        let searching = async {
            match engine {
                Some(engine) => self.retrieve(engine, search, Collection::Web).await,
                None => Ok(without_index()),
            }
        };
        if self.web.is_empty() || !query::concerns_providers(search.request) {
            return searching.await;
        }
        let is_only = is_only && engine.is_none();
        let (list, (answers, failures)) =
            futures_util::join!(searching, Stage::Providers.measure(self.ask_providers(search, is_only)));
        let mut list = match list {
            Err(Error::Unavailable { source, .. }) if !answers.is_empty() => {
                tracing::warn!(error = &*source as &dyn std::error::Error, "the web index is unavailable");
                search.lack_provider(INDEX, "unreachable");
                without_index()
            }
            list => list?,
        };
        if is_only
            && answers.is_empty()
            && let Some(error) = failures.into_iter().next()
        {
            return Err(Error::Unavailable { backend: "web search", source: error.into() });
        }
        self.add_results(search, &mut list, found::merge(&answers)).await?;
        Ok(list)
    }

    /// Asks all providers. Returns the answers and the failures.
    async fn ask_providers(
        &self,
        search: &Search<'_>,
        is_only_source: bool,
    ) -> (Vec<Arc<WebResponse>>, Vec<ProviderError>) {
        let query = query::web_query(search.request);
        let deadline = match is_only_source {
            // A search without another source waits for its first results, as that of the index does.
            true => search.request.deadline.leaving(LEAST_TIME),
            false => search.request.deadline,
        };
        let until = deadline.earlier(LOAD_RESERVE).left().map(|left| Instant::now() + left);
        let calls = self.web.sources.iter().map(async |source| {
            let call = source.search(search.organization_id, &query);
            let outcome = match until {
                None => call.await,
                Some(until) => timeout_at(until, call).await.unwrap_or_else(|_| {
                    search.degrade();
                    Err(ProviderError::Timeout)
                }),
            };
            (source.name(), outcome)
        });
        let (mut answers, mut failures) = (Vec::new(), Vec::new());
        for (name, outcome) in futures_util::future::join_all(calls).await {
            match outcome {
                Ok(response) => answers.push(response),
                Err(error) => {
                    search.lack_provider(name, error.reason());
                    failures.push(error);
                }
            }
        }
        (answers, failures)
    }
}

fn without_index() -> CandidateList {
    CandidateList { is_indexed: false, ..CandidateList::empty(Collection::Web) }
}
