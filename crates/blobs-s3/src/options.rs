use std::time::Duration;

/// Bucket and credentials.
#[derive(Clone)]
pub struct S3Options {
    /// `http(s)://host[:port][/path]`; `None` for AWS.
    pub endpoint: Option<String>,
    /// Address of the same store for clients, used in presigned URLs; `None` if equal to `endpoint`.
    pub public_endpoint: Option<String>,
    pub region: String,
    pub bucket: String,
    /// With an empty id and secret, credentials come from the environment, the AWS profile, the container or the
    /// instance (IMDSv2, or IMDSv1 where it is permitted), in this order.
    pub access_key_id: String,
    pub secret_access_key: String,
    /// Session token of temporary credentials.
    pub session_token: Option<String>,
    /// Use `endpoint/bucket/key` instead of `bucket.endpoint/key`.
    pub path_style: bool,
    /// Maximum number of concurrent requests, each counted until the end of its response; `None` for no limit. Further ones wait,
    /// for as long as their timeouts allow.
    pub max_requests: Option<usize>,
    pub timeouts: S3Timeouts,
}

/// Timeouts and retries. Bodies get one more second per [`S3Timeouts::BYTES_PER_SECOND`].
#[derive(Clone, Copy, Debug)]
pub struct S3Timeouts {
    /// Connecting.
    pub connect: Duration,
    /// One attempt, until the response headers.
    pub attempt: Duration,
    /// Maximum idle time of a response body.
    pub idle: Duration,
    /// Total number of attempts while storage is unavailable.
    pub attempts: u32,
    /// Delay before the second attempt. Doubles for each further one, minus random jitter of up to a half.
    pub backoff: Duration,
}

impl S3Timeouts {
    /// Slowest acceptable transfer rate.
    pub const BYTES_PER_SECOND: u64 = 256 * 1024;

    /// Returns the timeout of an attempt with a body of `bytes`.
    pub(crate) fn for_body(&self, bytes: u64) -> Duration {
        self.attempt + Duration::from_secs(bytes / Self::BYTES_PER_SECOND)
    }
}

/// At most about 31 seconds without bodies and lookups of credentials: three attempts of ten seconds, and the delays.
impl Default for S3Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            attempt: Duration::from_secs(10),
            idle: Duration::from_secs(10),
            attempts: 3,
            backoff: Duration::from_millis(200),
        }
    }
}
