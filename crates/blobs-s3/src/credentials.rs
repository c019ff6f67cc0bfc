//! Signing credentials: fixed keys, or keys that the environment provides and renews.
//!
//! Temporary keys are renewed by calls that send requests, including a ping. A caller that only presigns must ping
//! occasionally.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use blobs::{BlobError, BlobErrorKind};
use rusoto_credential::{AwsCredentials, ChainProvider, ProvideAwsCredentials};
use time::OffsetDateTime;

/// Temporary credentials are renewed this long before they expire, so that presigned URLs remain valid for a while.
const RENEW_BEFORE: time::Duration = time::Duration::minutes(20);
/// Timeout per credentials source: an instance's metadata service responds at once or not at all.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) struct Credentials {
    /// `None` for fixed keys.
    chain: Option<ChainProvider>,
    known: RwLock<Option<AwsCredentials>>,
    /// Serializes lookups.
    lookup: tokio::sync::Mutex<()>,
}

impl Credentials {
    pub fn fixed(access_key_id: String, secret_access_key: String, session_token: Option<String>) -> Self {
        let known = AwsCredentials::new(access_key_id, secret_access_key, session_token, None);
        Self { chain: None, known: RwLock::new(Some(known)), lookup: tokio::sync::Mutex::default() }
    }

    pub fn from_environment() -> Self {
        let mut chain = ChainProvider::new();
        chain.set_timeout(LOOKUP_TIMEOUT);
        Self { chain: Some(chain), known: RwLock::default(), lookup: tokio::sync::Mutex::default() }
    }

    /// Returns the known credentials unless they have expired.
    pub fn known(&self) -> Option<AwsCredentials> {
        self.valid_for(time::Duration::ZERO)
    }

    fn valid_for(&self, span: time::Duration) -> Option<AwsCredentials> {
        let until = (OffsetDateTime::now_utc() + span).unix_timestamp();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone().filter(|known| known.expires_at().is_none_or(|expires| expires.timestamp() > until))
    }

    /// Looks up credentials that are missing or about to expire. The library's own cache is not used because it keeps a
    /// failed lookup forever.
    ///
    /// # Errors
    /// `Denied` if there are none.
    pub async fn refresh(&self) -> Result<(), BlobError> {
        let Some(chain) = &self.chain else { return Ok(()) };
        if self.valid_for(RENEW_BEFORE).is_some() {
            return Ok(());
        }
        let _guard = self.lookup.lock().await;
        if self.valid_for(RENEW_BEFORE).is_some() {
            return Ok(());
        }
        // Up to two of the sources use the network, one after the other.
        let found = match tokio::time::timeout(3 * LOOKUP_TIMEOUT, chain.credentials()).await {
            Ok(Ok(found)) => found,
            failed => {
                let cause = failed.map_or_else(
                    |_| "timeout".to_owned(),
                    |result| result.err().map(|error| error.message).unwrap_or_default(),
                );
                if self.known().is_some() {
                    tracing::warn!(%cause, "cannot renew object storage credentials, using the current ones");
                    return Ok(());
                }
                return Err(BlobError::new(BlobErrorKind::Denied, format!("no credentials found: {cause}")));
            }
        };
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(found);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    /// Credentials as provided by an instance, expired in 1970.
    fn expired() -> Credentials {
        let credentials = Credentials::from_environment();
        let document = r#"{"AccessKeyId":"id","SecretAccessKey":"s","Token":"t","Expiration":"1970-01-01T00:00:00Z"}"#;
        *credentials.known.write().unwrap() = Some(serde_json::from_str(document).unwrap());
        credentials
    }

    #[test]
    fn expired_credentials_are_not_known() {
        assert!(expired().known().is_none());
        assert!(Credentials::from_environment().known().is_none());
        let fixed = Credentials::fixed("id".to_owned(), "secret".to_owned(), None);
        assert_eq!(fixed.known().map(|known| known.aws_access_key_id().to_owned()).as_deref(), Some("id"));
    }
}
