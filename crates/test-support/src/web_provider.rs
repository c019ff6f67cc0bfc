use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::search::providers::{ProviderSetup, WebSources};
use async_trait::async_trait;
use model::Timestamp;
use tokio::sync::watch;
use web_providers::{Applied, ProviderError, WebProvider, WebQuery, WebResponse, WebResult};

/// A provider whose answer a test sets, holds back and counts.
pub struct TestProvider {
    name: &'static str,
    answer: Mutex<Result<WebResponse, ProviderError>>,
    held: watch::Sender<bool>,
    queries: watch::Sender<Vec<WebQuery>>,
    /// Number of calls that were dropped before their end.
    dropped: watch::Sender<usize>,
}

/// Returns a result of a provider.
pub fn found(url: &str, title: &str, snippet: &str) -> WebResult {
    WebResult::new(url, title, snippet).unwrap()
}

impl TestProvider {
    /// A provider with the name `searxng`.
    pub fn with(results: impl IntoIterator<Item = WebResult>) -> Arc<Self> {
        let provider = Self::named("searxng");
        provider.answer(results);
        provider
    }

    /// A provider without results.
    pub fn named(name: &'static str) -> Arc<Self> {
        Arc::new(Self {
            name,
            answer: Mutex::new(Ok(WebResponse::default())),
            held: watch::Sender::new(false),
            queries: watch::Sender::default(),
            dropped: watch::Sender::default(),
        })
    }

    /// Sets the results, on which no filter was applied.
    pub fn answer(&self, results: impl IntoIterator<Item = WebResult>) {
        self.set(Ok(WebResponse::new(results, Applied::default())));
    }

    pub fn set(&self, answer: Result<WebResponse, ProviderError>) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// From now on calls wait for [`release`](Self::release).
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// Returns once `count` calls have begun.
    pub async fn reached(&self, count: usize) {
        self.queries.subscribe().wait_for(|queries| queries.len() >= count).await.unwrap();
    }

    /// Returns once `count` calls were dropped before their end.
    pub async fn abandoned(&self, count: usize) {
        self.dropped.subscribe().wait_for(|dropped| *dropped >= count).await.unwrap();
    }

    /// All queries so far.
    pub fn queries(&self) -> Vec<WebQuery> {
        self.queries.borrow().clone()
    }

    /// The setup of this provider, with a timeout that no test reaches.
    pub fn setup(self: &Arc<Self>) -> ProviderSetup {
        ProviderSetup { provider: Arc::clone(self) as _, timeout: Duration::from_secs(20), limit_rps: None }
    }

    /// The index and this provider.
    pub fn with_index(self: &Arc<Self>) -> WebSources {
        WebSources { providers: vec![self.setup()], ..WebSources::default() }
    }

    /// This provider without the index.
    pub fn alone(self: &Arc<Self>) -> WebSources {
        WebSources { index: false, ..self.with_index() }
    }
}

/// Counts a call that is dropped before its end.
struct Call<'a>(Option<&'a TestProvider>);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if let Some(provider) = self.0 {
            provider.dropped.send_modify(|dropped| *dropped += 1);
        }
    }
}

#[async_trait]
impl WebProvider for TestProvider {
    fn name(&self) -> &'static str {
        self.name
    }

    async fn search(&self, query: &WebQuery, _now: Timestamp) -> Result<WebResponse, ProviderError> {
        let mut call = Call(Some(self));
        self.queries.send_modify(|queries| queries.push(query.clone()));
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        call.0 = None;
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
