//! One provider with what protects it and its callers: cache, single flight, pace, pauses.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ingest::pages::single_flight::SingleFlight;
use model::{Clock, OrganizationId, Timestamp};
use models::health::OUTAGE;
use moka::sync::Cache;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};
use trace_context::{ActiveSpan, SpanKind};
use tracing::Instrument;
use web_providers::{ProviderError, WebProvider, WebQuery, WebResponse};

use super::ProviderSetup;
use super::pace::Pace;

/// Size of the cached answers of one provider.
const CACHE_BYTES: u64 = 16 << 20;
/// Maximum lifetime of an answer in memory. The cache panics beyond a thousand years, which settings may ask for.
const MAX_TTL: Duration = Duration::from_hours(365 * 24);
/// Pause after a rate limit without a delay.
const RATE_LIMIT_PAUSE: Duration = Duration::from_secs(1);
/// Pause after a timeout, so that not every search waits for a provider that hangs.
const TIMEOUT_PAUSE: Duration = Duration::from_secs(1);
/// Minimum interval between log entries about a failing provider.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

type Outcome = Result<Arc<WebResponse>, ProviderError>;
/// Answers are cached for each organization: the time of an answer must not tell what others searched for.
type CacheKey = (OrganizationId, WebQuery);

pub struct Source {
    provider: Arc<dyn WebProvider>,
    timeout: Duration,
    pace: Option<Pace>,
    /// Answers with the ends of their lives.
    answers: Cache<CacheKey, (Arc<WebResponse>, Timestamp)>,
    ttl: Duration,
    /// Requests under way. Organizations share them: an equal query at the same moment has the same answer.
    running: SingleFlight<WebQuery, Outcome>,
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    /// Runs calls that several searches wait for.
    runtime: Handle,
}

#[derive(Default)]
struct State {
    paused: Option<Pause>,
    last_failure: Option<(Timestamp, String)>,
    logged_at: Option<Timestamp>,
}

/// Time in which a provider is not called.
struct Pause {
    since: Timestamp,
    until: Timestamp,
    /// The failure that caused it.
    error: ProviderError,
}

impl Pause {
    /// After the clock was set back, a pause in the future counts as past.
    fn is_over(&self, now: Timestamp) -> bool {
        !(self.since..self.until).contains(&now)
    }
}

impl Source {
    /// Must be called on a tokio runtime.
    pub fn start(setup: ProviderSetup, ttl: Duration, clock: Arc<dyn Clock>) -> Self {
        let ProviderSetup { provider, timeout, limit_rps } = setup;
        let weight = |(_, query): &CacheKey, (response, _): &(Arc<WebResponse>, Timestamp)| {
            let texts = response.results.iter().map(|result| {
                result.url.as_str().len() + result.source_url.len() + result.title.len() + result.snippet.len() + 128
            });
            u32::try_from(query.text.len() + texts.sum::<usize>() + 256).unwrap_or(u32::MAX)
        };
        Self {
            provider,
            timeout,
            pace: limit_rps.map(|limit_rps| Pace::new(limit_rps, timeout)),
            answers: Cache::builder().max_capacity(CACHE_BYTES).weigher(weight).time_to_live(ttl.min(MAX_TTL)).build(),
            ttl,
            running: SingleFlight::default(),
            state: Mutex::default(),
            clock,
            runtime: Handle::current(),
        }
    }

    pub fn name(&self) -> &'static str {
        self.provider.name()
    }

    /// Returns the failure of the last call, as long as it counts as an outage; `None` if it succeeded or there was none.
    pub fn recent_failure(&self) -> Option<String> {
        let now = self.clock.now();
        self.state()
            .last_failure
            .clone()
            .filter(|(at, _)| (*at..*at + OUTAGE).contains(&now))
            .map(|(_, failure)| failure)
    }

    /// Returns the provider's answer: a cached one of the same organization, that of a call under way, or that of a new call.
    /// Dropping the future ends the call, unless another search waits for it.
    pub async fn search(self: &Arc<Self>, organization_id: OrganizationId, query: &WebQuery) -> Outcome {
        let now = self.clock.now();
        let key = (organization_id, query.clone());
        if let Some((response, until)) = self.answers.get(&key)
            && now < until
        {
            self.count("cached");
            return Ok(response);
        }
        let call = match self.running.find(query) {
            Some(call) => {
                self.count("merged");
                call
            }
            None => {
                if let Some(pause) = &self.state().paused
                    && !pause.is_over(now)
                {
                    self.count("paused");
                    return Err(pause.error.clone());
                }
                self.running.join(query, || {
                    let (source, query) = (Arc::clone(self), query.clone());
                    let calling = trace_context::carried(async move { source.call(organization_id, &query).await });
                    self.runtime.spawn(calling.in_current_span())
                })
            }
        };
        let panicked = || Err(ProviderError::InvalidResponse("the provider panicked".to_owned()));
        let response = call.outcome().await.unwrap_or_else(panicked)?;
        self.answers.insert(key, (Arc::clone(&response), now + self.ttl));
        Ok(response)
    }

    /// Calls the provider when it is the organization's turn.
    async fn call(&self, organization_id: OrganizationId, query: &WebQuery) -> Outcome {
        let until = Instant::now() + self.timeout;
        if let Some(pace) = &self.pace
            && !pace.turn(organization_id, until).await
        {
            self.count("rate_limited");
            return Err(ProviderError::RateLimited { retry_after: None });
        }
        let started = Instant::now();
        let searching = async {
            let searching = self.provider.search(query, self.clock.now());
            timeout_at(until, searching).await.unwrap_or(Err(ProviderError::Timeout))
        };
        let mut span = ActiveSpan::begin("web provider", SpanKind::Client);
        span.set("provider", self.name());
        let outcome = span.try_around(searching).await;
        metrics::histogram!("retrieval_web_provider_duration_seconds", "provider" => self.name())
            .record(started.elapsed().as_secs_f64());
        self.count(outcome.as_ref().map_or_else(ProviderError::reason, |_| "ok"));
        self.note(outcome.as_ref().err());
        outcome.map(Arc::new)
    }

    /// Records the outcome of a call.
    fn note(&self, failure: Option<&ProviderError>) {
        let now = self.clock.now();
        let mut state = self.state();
        state.last_failure = failure.map(|error| (now, error.to_string()));
        state.paused.take_if(|pause| pause.is_over(now));
        let Some(error) = failure else { return };
        let pause = match error {
            ProviderError::RateLimited { retry_after } => retry_after.unwrap_or_default().max(RATE_LIMIT_PAUSE),
            ProviderError::Timeout => TIMEOUT_PAUSE,
            ProviderError::Unreachable(_)
            | ProviderError::Refused { .. }
            | ProviderError::Status(_)
            | ProviderError::InvalidResponse(_) => Duration::ZERO,
        };
        let until = now + pause;
        // The call may have begun before another one caused a pause, which the provider still asks for.
        if state.paused.as_ref().is_none_or(|present| present.until < until) {
            state.paused = Some(Pause { since: now, until, error: error.clone() });
        }
        if state.logged_at.is_none_or(|at| !(at..at + LOG_INTERVAL).contains(&now)) {
            state.logged_at = Some(now);
            let error = error as &dyn std::error::Error;
            tracing::warn!(provider = self.name(), error, "a web search provider failed");
        }
    }

    fn count(&self, outcome: &'static str) {
        metrics::counter!("retrieval_web_provider_requests_total", "provider" => self.name(), "outcome" => outcome)
            .increment(1);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
