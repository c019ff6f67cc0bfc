use std::time::Duration;

/// Where the bucket is, and as whom we use it.
#[derive(Clone)]
pub struct S3Options {
    /// `http(s)://host[:port][/path]`; `None` for AWS.
    pub endpoint: Option<String>,
    /// The address under which clients reach the same store, for presigned URLs; `None` when it is `endpoint`.
    pub public_endpoint: Option<String>,
    pub region: String,
    pub bucket: String,
    /// With an empty id and an empty secret, credentials are looked for in the environment, the AWS profile, the
    /// container and the instance, in this order.
    pub access_key_id: String,
    pub secret_access_key: String,
    /// Of temporary credentials.
    pub session_token: Option<String>,
    /// `endpoint/bucket/key` in place of `bucket.endpoint/key`.
    pub path_style: bool,
    pub timeouts: S3Timeouts,
}

/// After which time we give up. Bodies get a second more for each [`S3Timeouts::BYTES_PER_SECOND`].
#[derive(Clone, Copy, Debug)]
pub struct S3Timeouts {
    /// For the connection alone.
    pub connect: Duration,
    /// For one attempt, until it is answered.
    pub attempt: Duration,
    /// How long the body of an answer may stand still.
    pub idle: Duration,
    /// Attempts in all, where storage is unavailable.
    pub attempts: u32,
    /// Before the second attempt; doubles from there on, and is shortened at random by up to a half.
    pub backoff: Duration,
}

impl S3Timeouts {
    /// The slowest transfer that still counts as one.
    pub const BYTES_PER_SECOND: u64 = 256 * 1024;

    /// What an attempt that moves a body of `bytes` may take.
    pub(crate) fn for_body(&self, bytes: u64) -> Duration {
        self.attempt + Duration::from_secs(bytes / Self::BYTES_PER_SECOND)
    }
}

/// At most about 31 seconds without bodies: three attempts of ten seconds, and the pauses.
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
