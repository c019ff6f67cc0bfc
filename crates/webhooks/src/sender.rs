use std::time::Duration;

use fetcher::{FetchError, FetcherOptions, IpNet, Poster, TimeLimits};
use model::{DeliveryId, Timestamp};
use trace_context::{ActiveSpan, SpanKind, TraceContext};

use crate::signature::{ID, SIGNATURE, TIMESTAMP, sign};

/// Networks and timeout of a [`Sender`].
#[derive(Clone, Debug)]
pub struct SenderOptions {
    pub user_agent: String,
    /// Permitted networks besides the public ones.
    pub allow_networks: Vec<IpNet>,
    /// Timeout of one attempt.
    pub timeout: Duration,
}

/// Client that signs deliveries and sends them to permitted addresses only.
pub struct Sender {
    poster: Poster,
}

/// URL that is malformed, or whose host or port is not permitted.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct RefusedUrl(FetchError);

/// Failed attempt.
#[derive(Clone, Debug)]
pub(crate) struct SendError {
    /// For the owner of the webhook: reveals nothing about the operator's network.
    pub message: String,
    /// The target answered that it is gone for good.
    pub gone: bool,
    pub retry_after: Option<Duration>,
}

/// One attempt.
pub(crate) struct Attempt<'a> {
    pub url: &'a str,
    pub secrets: &'a [&'a str],
    pub delivery_id: DeliveryId,
    pub trace: &'a TraceContext,
    pub body: &'a str,
    pub now: Timestamp,
}

impl Sender {
    /// Creates the client without connecting.
    ///
    /// # Errors
    /// Invalid options.
    pub fn new(options: SenderOptions) -> Result<Self, fetcher::OptionsError> {
        let SenderOptions { user_agent, allow_networks, timeout } = options;
        let time_limits = TimeLimits { connect: timeout, first_byte: timeout, total: timeout, ..TimeLimits::default() };
        let defaults = FetcherOptions::new("webhooks", env!("CARGO_PKG_VERSION"), None);
        let poster = Poster::new(&FetcherOptions { user_agent, allow_networks, time_limits, ..defaults })?;
        Ok(Self { poster })
    }

    /// Checks a URL without looking up its host name. The addresses of the name are checked at each attempt.
    ///
    /// # Errors
    /// `RefusedUrl`.
    pub fn check(&self, url: &str) -> Result<(), RefusedUrl> {
        self.poster.check(url).map_err(RefusedUrl)
    }

    /// Makes one attempt. Any 2xx status is a success; redirects are not followed.
    pub(crate) async fn send(&self, attempt: Attempt<'_>) -> Result<(), SendError> {
        let Attempt { url, secrets, delivery_id, trace, body, now } = attempt;
        let (id, timestamp) = (delivery_id.to_string(), (now.as_millis() / 1_000).to_string());
        let signature = sign(secrets.iter().copied(), &id, &timestamp, body.as_bytes());
        let mut headers = vec![(ID, id.as_str()), (TIMESTAMP, timestamp.as_str()), (SIGNATURE, signature.as_str())];
        let context: Vec<_> = trace.headers().collect();
        headers.extend(context.iter().map(|(name, value)| (*name, value.as_str())));
        let span = ActiveSpan::of(trace, "webhook delivery", SpanKind::Client);
        match span.try_around(self.poster.post_json(url, &headers, body.as_bytes().to_vec())).await {
            Ok(reply) if (200..300).contains(&reply.status) => Ok(()),
            Ok(reply) => Err(SendError {
                message: format!("the target answered with status {}", reply.status),
                gone: reply.status == 410,
                retry_after: reply.retry_after,
            }),
            Err(error) => Err(SendError { message: shown(&error), gone: false, retry_after: None }),
        }
    }
}

/// Describes a failure to the owner of the webhook. A finer reason for names without a permitted address would map the operator's
/// network.
fn shown(error: &FetchError) -> String {
    match error {
        FetchError::Dns | FetchError::RefusedAddress => "the target is unreachable".to_owned(),
        FetchError::Overloaded { .. } => "the service is too busy to send".to_owned(),
        other => other.to_string(),
    }
}
