use std::sync::Arc;
use std::time::Duration;

use model::Clock;

/// Collector, and what this process calls itself.
#[derive(Clone)]
pub struct ExporterOptions {
    /// URL of the collector. Without a path it gets that of OTLP.
    pub url: String,
    /// Header with the credential of this service.
    pub header: Option<(String, String)>,
    /// Name of this service in traces.
    pub service: String,
    pub version: String,
    /// Id of this process among those of the service.
    pub instance: String,
    pub clock: Arc<dyn Clock>,
    pub timing: Timing,
}

/// Limits of the exporter.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Maximum number of waiting spans; a span takes less than a kilobyte.
    pub queue: usize,
    /// Maximum number of spans in a request.
    pub batch: usize,
    /// Maximum time for which a span waits for others.
    pub delay: Duration,
    /// Timeout of an attempt.
    pub timeout: Duration,
    /// Attempts of a batch. The queue fills up meanwhile.
    pub attempts: u32,
    /// Delay before the second attempt, doubled before each further one.
    pub back_off: Duration,
    /// Maximum delay that a collector may ask for.
    pub max_back_off: Duration,
    /// Time to send the rest when the process stops.
    pub flush: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            queue: 8_192,
            batch: 512,
            delay: Duration::from_secs(1),
            timeout: Duration::from_secs(5),
            attempts: 3,
            back_off: Duration::from_millis(500),
            max_back_off: Duration::from_secs(10),
            flush: Duration::from_secs(3),
        }
    }
}

/// Options that no collector can be reached with.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    #[error("`{0}` is not an http or https URL")]
    Url(String),
    /// The value may be a secret.
    #[error("the credential is not a valid header: {0}")]
    Header(String),
    #[error("the HTTP client cannot be created")]
    Client(#[source] reqwest::Error),
}
