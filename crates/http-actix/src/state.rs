use std::sync::Arc;
use std::time::Duration;

use app::App;
use rate_limit::RateLimiter;
use time::OffsetDateTime;
use tokio::runtime::Handle;

use crate::mcp::{Origins, Servers};
use crate::skill_files::SkillFiles;

/// Where the time comes from.
pub type Clock = Arc<dyn Fn() -> OffsetDateTime + Send + Sync>;

/// The wall clock.
pub fn system_clock() -> Clock {
    Arc::new(OffsetDateTime::now_utc)
}

/// Writes what was counted so far, in the text format of Prometheus.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// How the listeners behave.
#[derive(Clone)]
pub struct Options {
    /// How clients reach the API, without a slash at the end: `$schema` links start with it.
    pub public_url: String,
    /// Origins of pages that may use `/mcp`, beside those of `public_url` and of this machine.
    pub mcp_allow_origins: Vec<String>,
    /// Threads of the public listener; 0: one per CPU, at most 8.
    pub workers: usize,
    /// How long [`crate::Running::stop`] waits for requests under way.
    pub drain: Duration,
    pub clock: Clock,
    /// What `GET /metrics` of the internal listener answers; without it there is no such path.
    pub metrics: Option<MetricsText>,
}

/// What every request needs, shared by all workers.
pub struct State {
    pub(crate) app: Arc<App>,
    pub(crate) limiter: Arc<dyn RateLimiter>,
    pub(crate) clock: Clock,
    pub(crate) metrics: Option<MetricsText>,
    /// Where use cases run.
    pub(crate) runtime: Handle,
    pub(crate) skills: Option<SkillFiles>,
    pub(crate) mcp: Servers,
    pub(crate) origins: Origins,
    public_url: String,
}

impl State {
    /// Use cases run on the tokio runtime that this is called on.
    pub fn new(app: Arc<App>, limiter: Arc<dyn RateLimiter>, options: &Options) -> Self {
        let public_url = options.public_url.trim_end_matches('/').to_owned();
        State {
            app,
            limiter,
            clock: options.clock.clone(),
            metrics: options.metrics.clone(),
            runtime: Handle::current(),
            skills: SkillFiles::new(&public_url),
            mcp: Servers::new(),
            origins: Origins::new(&public_url, &options.mcp_allow_origins),
            public_url,
        }
    }

    pub(crate) fn now(&self) -> OffsetDateTime {
        (self.clock)()
    }

    /// The `$schema` of a body of this type.
    pub(crate) fn schema_url(&self, name: &str) -> String {
        format!("{}/schemas/{name}.json", self.public_url)
    }
}
