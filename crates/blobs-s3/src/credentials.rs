//! Signing credentials: fixed keys, or keys that the machine provides and renews.
//!
//! Temporary keys are renewed by calls that send requests, including a ping. A caller that only presigns must ping
//! occasionally.

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use blobs::{BlobError, BlobErrorKind};
use rusoto_credential::{AwsCredentials, ProvideAwsCredentials};
use time::OffsetDateTime;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::machine::Machine;

/// Temporary credentials are renewed this long before they expire, so that presigned URLs remain valid for a while.
const RENEW_BEFORE: time::Duration = time::Duration::minutes(20);
/// Minimum time between lookups while credentials are valid. Some live for 15 minutes only, and are always about to expire.
const RENEW_INTERVAL: Duration = Duration::from_secs(30);
/// Timeout of a lookup: the sources are on the machine, and respond at once or not at all.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(9);

type Source = dyn ProvideAwsCredentials + Send + Sync;

pub(crate) struct Credentials {
    /// `None` for fixed keys.
    source: Option<Box<Source>>,
    known: RwLock<Option<AwsCredentials>>,
    /// Serializes lookups.
    last: Mutex<LastLookup>,
}

#[derive(Default)]
struct LastLookup {
    began: Option<Instant>,
    failure: Option<Failure>,
}

struct Failure {
    at: Instant,
    kind: BlobErrorKind,
    message: String,
}

impl Credentials {
    pub fn fixed(access_key_id: String, secret_access_key: String, session_token: Option<String>) -> Self {
        let known = AwsCredentials::new(access_key_id, secret_access_key, session_token, None);
        Self { source: None, known: RwLock::new(Some(known)), last: Mutex::default() }
    }

    /// Returns the credentials of the machine, none of which are known yet.
    pub fn of_machine() -> Result<Self, BlobError> {
        let machine = Machine::new().map_err(|error| {
            BlobError::new(BlobErrorKind::Failed, "cannot create the HTTP client").with_source(error)
        })?;
        Ok(Self::from_source(Box::new(machine)))
    }

    fn from_source(source: Box<Source>) -> Self {
        Self { source: Some(source), known: RwLock::default(), last: Mutex::default() }
    }

    /// Returns the known credentials unless they have expired.
    pub fn known(&self) -> Option<AwsCredentials> {
        self.valid_for(time::Duration::ZERO)
    }

    fn valid_for(&self, span: time::Duration) -> Option<AwsCredentials> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone().filter(|known| is_valid_for(known, span))
    }

    /// Looks up credentials that are missing or about to expire. The library's own cache is not used because it keeps a
    /// failed lookup forever.
    ///
    /// # Errors
    /// There are no valid ones: `Unavailable` if the lookup timed out or found expired ones, otherwise `Denied`.
    pub async fn refresh(&self) -> Result<(), BlobError> {
        let Some(source) = &self.source else { return Ok(()) };
        if self.valid_for(RENEW_BEFORE).is_some() {
            return Ok(());
        }
        if self.known().is_some() {
            self.renew(source.as_ref()).await;
            return Ok(());
        }
        let asked = Instant::now();
        let mut last = self.last.lock().await;
        if self.known().is_some() {
            return Ok(());
        }
        // The lookup that this call waited for. One after the other, calls would wait ever longer.
        if let Some(failure) = last.failure.as_ref().filter(|failure| failure.at >= asked) {
            return Err(BlobError::new(failure.kind, failure.message.clone()));
        }
        self.look_up(source.as_ref(), &mut last).await
    }

    /// Renews valid credentials, unless another call does so or did so recently.
    async fn renew(&self, source: &Source) {
        let Ok(mut last) = self.last.try_lock() else { return };
        if last.began.is_some_and(|began| began.elapsed() < RENEW_INTERVAL) {
            return;
        }
        if let Err(error) = self.look_up(source, &mut last).await {
            tracing::warn!(%error, "cannot renew object storage credentials, using the current ones");
        }
    }

    async fn look_up(&self, source: &Source, last: &mut LastLookup) -> Result<(), BlobError> {
        // At the beginning, since the call may be dropped.
        last.began = Some(Instant::now());
        let (kind, cause) = match timeout(LOOKUP_TIMEOUT, source.credentials()).await {
            Ok(Ok(found)) if is_valid_for(&found, time::Duration::ZERO) => {
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(found);
                return Ok(());
            }
            Ok(Ok(_)) => (BlobErrorKind::Unavailable, "they have expired".to_owned()),
            Ok(Err(error)) => (BlobErrorKind::Denied, error.message),
            Err(_) => (BlobErrorKind::Unavailable, "timeout".to_owned()),
        };
        let message = format!("no valid credentials found: {cause}");
        last.failure = Some(Failure { at: Instant::now(), kind, message: message.clone() });
        Err(BlobError::new(kind, message))
    }
}

fn is_valid_for(credentials: &AwsCredentials, span: time::Duration) -> bool {
    let until = (OffsetDateTime::now_utc() + span).unix_timestamp();
    credentials.expires_at().is_none_or(|expires| expires.timestamp() > until)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use futures_util::future::join_all;
    use rusoto_credential::CredentialsError;
    use time::format_description::well_known::Rfc3339;

    use super::*;

    /// Credentials as provided by an instance, which expire after so many minutes.
    fn expiring(minutes: i64) -> AwsCredentials {
        let expires = (OffsetDateTime::now_utc() + time::Duration::minutes(minutes)).format(&Rfc3339).unwrap();
        let document = serde_json::json!({
            "AccessKeyId": "id", "SecretAccessKey": "s", "Token": "t", "Expiration": expires,
        });
        serde_json::from_value(document).unwrap()
    }

    /// Reaction of the source to each lookup.
    enum Reaction {
        Credentials(i64),
        Fail,
        Hang,
    }

    struct TestSource(Reaction, Arc<AtomicUsize>);

    #[async_trait]
    impl ProvideAwsCredentials for TestSource {
        async fn credentials(&self) -> Result<AwsCredentials, CredentialsError> {
            self.1.fetch_add(1, Ordering::SeqCst);
            match self.0 {
                Reaction::Credentials(minutes) => Ok(expiring(minutes)),
                Reaction::Fail => Err(CredentialsError::new("none")),
                Reaction::Hang => std::future::pending().await,
            }
        }
    }

    /// Returns credentials of a source, and the number of its lookups.
    fn from_source(reaction: Reaction, known: Option<AwsCredentials>) -> (Credentials, Arc<AtomicUsize>) {
        let lookups = Arc::new(AtomicUsize::new(0));
        let credentials = Credentials::from_source(Box::new(TestSource(reaction, Arc::clone(&lookups))));
        *credentials.known.write().unwrap() = known;
        (credentials, lookups)
    }

    #[test]
    fn expired_credentials_are_not_known() {
        assert!(from_source(Reaction::Fail, Some(expiring(-1))).0.known().is_none());
        assert!(from_source(Reaction::Fail, None).0.known().is_none());
        let fixed = Credentials::fixed("id".to_owned(), "secret".to_owned(), None);
        assert_eq!(fixed.known().map(|known| known.aws_access_key_id().to_owned()).as_deref(), Some("id"));
    }

    #[tokio::test(start_paused = true)]
    async fn short_lived_credentials_are_renewed_from_time_to_time() {
        let (credentials, lookups) = from_source(Reaction::Credentials(15), None);
        for _ in 0..10 {
            credentials.refresh().await.unwrap();
        }
        assert_eq!(lookups.load(Ordering::SeqCst), 1);
        tokio::time::advance(RENEW_INTERVAL).await;
        for _ in 0..10 {
            credentials.refresh().await.unwrap();
        }
        assert_eq!(lookups.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn failed_renewal_keeps_valid_credentials() {
        for reaction in [Reaction::Credentials(-1), Reaction::Fail] {
            let (credentials, _) = from_source(reaction, Some(expiring(10)));
            credentials.refresh().await.unwrap();
            assert!(credentials.known().is_some());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hanging_source_does_not_delay_calls_with_valid_credentials() {
        let (credentials, lookups) = from_source(Reaction::Hang, Some(expiring(10)));
        let started = Instant::now();
        let calls = join_all((0..10).map(async |_| {
            credentials.refresh().await.unwrap();
            started.elapsed()
        }));
        let mut took = calls.await;
        took.sort();
        // The call that looks them up waits for the timeout, the others not at all.
        assert_eq!(took[..9], [Duration::ZERO; 9]);
        assert!(took[9] <= LOOKUP_TIMEOUT + Duration::from_secs(1), "{took:?}");
        credentials.refresh().await.unwrap();
        assert_eq!(lookups.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_without_credentials_share_a_lookup_that_fails() {
        for (reaction, kind, most) in [
            (Reaction::Hang, BlobErrorKind::Unavailable, LOOKUP_TIMEOUT + Duration::from_secs(1)),
            (Reaction::Credentials(-1), BlobErrorKind::Unavailable, Duration::ZERO),
            (Reaction::Fail, BlobErrorKind::Denied, Duration::ZERO),
        ] {
            let (credentials, lookups) = from_source(reaction, Some(expiring(-1)));
            let started = Instant::now();
            for outcome in join_all((0..10).map(|_| credentials.refresh())).await {
                assert_eq!(outcome.unwrap_err().kind, kind);
            }
            assert!(started.elapsed() <= most, "{:?}", started.elapsed());
            assert_eq!(lookups.load(Ordering::SeqCst), 1);
        }
    }
}
