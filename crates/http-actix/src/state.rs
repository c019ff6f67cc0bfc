use std::sync::{Arc, OnceLock};
use std::time::Duration;

use app::App;
use app::clock::to_date_time;
use connections::{Limits, Pace};
use model::Clock;
use rate_limit::RateLimiter;
use research::Research;
use server_tls::ServerTls;
use time::OffsetDateTime;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::base_url::Published;
use crate::mcp::{Origins, ProtectedResource};
use crate::memory::{Memory, MemoryLimits};
use crate::rejections::Rejections;
use crate::skill_files::SkillFiles;
use crate::static_file::StaticFile;

/// Renders the metrics in the text format of Prometheus.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// Options of the listeners.
#[derive(Clone)]
pub struct Options {
    /// Base URL of the API for clients, without a trailing slash; prefix of `$schema` links.
    pub public_url: String,
    /// Origins of pages that may use `/mcp`, in addition to those of `public_url` and of this machine.
    pub mcp_allow_origins: Vec<String>,
    /// Issuer of accepted access tokens, which the metadata of `/mcp` names.
    pub oauth_issuer: Option<String>,
    /// Threads of the public listener; 0 for one per CPU, at most 8.
    pub workers: usize,
    /// Maximum time for which [`crate::Running::stop`] drains running requests.
    pub drain: Duration,
    /// TLS of the public listener; `None` for plain HTTP.
    pub tls: Option<Arc<ServerTls>>,
    /// Limits of the public listener's connections.
    pub connections: Limits,
    /// Least speeds of clients.
    pub paces: Paces,
    pub memory: MemoryLimits,
    pub clock: Arc<dyn Clock>,
    /// One log line per request of the public listener.
    pub access_log: bool,
    /// Rejected credentials per minute and source address, beyond which further ones are refused unchecked; 0 for no limit.
    pub rejected_per_minute: u32,
    /// Body of `GET /metrics` on the internal listener; `None` removes the path.
    pub metrics: Option<MetricsText>,
}

/// Least speeds of clients.
#[derive(Clone, Copy, Debug)]
pub struct Paces {
    /// Of reading a response.
    pub reading: Pace,
    /// Of sending the body of a request.
    pub sending: Pace,
}

impl Default for Paces {
    fn default() -> Self {
        Paces {
            // Large responses take memory while they are sent.
            reading: Pace { patience: Duration::from_secs(30), bytes_per_second: 16 << 10 },
            sending: Pace { patience: Duration::from_secs(10), bytes_per_second: 4 << 10 },
        }
    }
}

/// State shared by all workers.
pub struct State {
    pub(crate) app: Arc<App>,
    pub(crate) research: Arc<Research>,
    pub(crate) limiter: Arc<dyn RateLimiter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) access_log: bool,
    pub(crate) rejections: Rejections,
    pub(crate) metrics: Option<MetricsText>,
    /// Runtime of the use cases.
    pub(crate) runtime: Handle,
    pub(crate) memory: Memory,
    /// Least speed of sending the body of a request.
    pub(crate) sending: Pace,
    pub(crate) skills: Option<SkillFiles>,
    pub(crate) published: Published,
    /// The OpenAPI document, built at its first request, since most servers never receive one.
    pub(crate) openapi: OnceLock<StaticFile>,
    /// The reference page for the configured base URL, built at its first request.
    pub(crate) docs: OnceLock<StaticFile>,
    /// Reference page with the notice of an empty web index.
    pub(crate) docs_of_empty_index: OnceLock<StaticFile>,
    pub(crate) origins: Origins,
    /// `None` without an issuer.
    pub(crate) protected_resource: Option<ProtectedResource>,
    /// Cancelled when the server stops, for responses that wait.
    pub(crate) stopping: CancellationToken,
    public_url: String,
}

impl State {
    /// Creates the state. Use cases run on the current tokio runtime.
    pub fn new(app: Arc<App>, research: Arc<Research>, limiter: Arc<dyn RateLimiter>, options: &Options) -> Self {
        let public_url = options.public_url.trim_end_matches('/').to_owned();
        State {
            app,
            research,
            limiter,
            clock: options.clock.clone(),
            access_log: options.access_log,
            rejections: Rejections::new(options.rejected_per_minute, options.connections.trusted.clone()),
            metrics: options.metrics.clone(),
            runtime: Handle::current(),
            memory: Memory::new(&options.memory),
            sending: options.paces.sending,
            skills: SkillFiles::new(&public_url),
            published: Published::new(&public_url),
            openapi: OnceLock::new(),
            docs: OnceLock::new(),
            docs_of_empty_index: OnceLock::new(),
            origins: Origins::new(&public_url, &options.mcp_allow_origins),
            protected_resource: options
                .oauth_issuer
                .as_deref()
                .map(|issuer| ProtectedResource::new(&public_url, issuer)),
            stopping: CancellationToken::new(),
            public_url,
        }
    }

    pub(crate) fn now(&self) -> OffsetDateTime {
        to_date_time(self.clock.now())
    }

    /// Returns the `$schema` of a body of this type.
    pub(crate) fn schema_url(&self, name: &str) -> String {
        format!("{}/schemas/{name}.json", self.public_url)
    }
}
