//! Dependencies that cannot be reached while an instance starts.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use app::disk::FreeSpace;
use blobs::{BlobError, BlobErrorKind, BlobStore};
use docstore::{Docstore, StoreError};
use s3_server::S3ServerError;
use settings::Settings;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::compose::{self, EmbeddedStorage, Index, OpenedIndex};
use crate::database_use::DatabaseUse;
use crate::index_use::{self, IndexClaim};

/// Time that a start waits for the database: services that start together are not ready at the same time.
const DATABASE_PATIENCE: Duration = Duration::from_secs(60);
/// Time that a start waits for a command to give way: one that feeds the index looks every second, and ends its batch.
const COMMAND_PATIENCE: Duration = Duration::from_secs(60);
/// Time that a start waits for object storage. Its own attempts take longer.
const STORAGE_PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_secs(1);
/// Pause after object storage has refused this server. An operator must change something first.
const REFUSED_RETRY: Duration = Duration::from_secs(60);

/// Opens the database, and waits for one that does not answer yet.
///
/// # Errors
/// Those of [`compose::server_docstore`]; `Unavailable` after a minute.
pub async fn database(settings: &Settings) -> anyhow::Result<(Docstore, Option<DatabaseUse>)> {
    repeat("the database", DATABASE_PATIENCE, is_unavailable, async || compose::server_docstore(settings).await).await
}

/// Opens the index, and waits for a command that has opened an embedded one. `None` if search is disabled.
///
/// # Errors
/// Another server uses an embedded index; the command does not give way.
pub async fn index(settings: &Settings, store: &Docstore) -> anyhow::Result<(Option<Index>, Option<IndexClaim>)> {
    let claim = index_use::claim(settings, store).await?;
    let deadline = Instant::now() + COMMAND_PATIENCE;
    loop {
        match compose::index(settings, store).await? {
            OpenedIndex::Open(index) => return Ok((Some(index), claim)),
            OpenedIndex::Disabled => return Ok((None, claim)),
            OpenedIndex::OwnedElsewhere if Instant::now() < deadline => {
                tracing::warn!("waiting for the command that feeds the index");
            }
            OpenedIndex::OwnedElsewhere => {
                bail!("another server or command uses the data folder `{}`", settings.data_dir.display());
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

fn is_unavailable(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Unavailable(_)))
}

/// Opens object storage, and waits for a command that has opened an embedded one, such as the deletion of an organization.
///
/// # Errors
/// Those of [`compose::storage`]; `InUse` after a minute.
pub async fn open_storage(
    settings: &Settings,
    free_space: &Arc<FreeSpace>,
) -> anyhow::Result<(Arc<dyn BlobStore>, Option<EmbeddedStorage>)> {
    let open = async || compose::storage(settings, free_space).await;
    repeat("the command that uses the object store", COMMAND_PATIENCE, is_in_use, open).await
}

/// Opens something, and waits while that fails with a passing error. `awaited` names what it waits for, in the log.
///
/// # Errors
/// Those of `open`; a passing one once the patience is over.
async fn repeat<T>(
    awaited: &str,
    patience: Duration,
    is_passing: fn(&anyhow::Error) -> bool,
    open: impl AsyncFn() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        match open().await {
            Err(error) if is_passing(&error) && Instant::now() < deadline => {
                tracing::warn!("waiting for {awaited}: {error:#}");
            }
            outcome => return outcome,
        }
        tokio::time::sleep(RETRY).await;
    }
}

fn is_in_use(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(S3ServerError::InUse(_)))
}

/// Prepares object storage. While it does not answer, the instance starts without it and tries again until `stop`: searches and
/// stored documents do not need it.
///
/// # Errors
/// Any but `Unavailable`, such as rejected credentials.
pub async fn storage(blobs: &Arc<dyn BlobStore>, stop: &CancellationToken) -> anyhow::Result<()> {
    let silent = || BlobError::new(BlobErrorKind::Unavailable, format!("no answer within {STORAGE_PATIENCE:?}"));
    match tokio::time::timeout(STORAGE_PATIENCE, blobs.prepare()).await.unwrap_or_else(|_| Err(silent())) {
        Err(error) if error.kind == BlobErrorKind::Unavailable => {
            tracing::warn!("starting without object storage: {}", error_causes::describe(&error));
            let (blobs, stop) = (Arc::clone(blobs), stop.clone());
            tokio::spawn(async move { stop.run_until_cancelled(prepare(blobs.as_ref())).await });
            Ok(())
        }
        outcome => outcome.context("preparing object storage"),
    }
}

/// Repeats the preparation until it succeeds.
async fn prepare(blobs: &dyn BlobStore) {
    let (mut pause, mut refusals) = (RETRY, Refusals::default());
    loop {
        tokio::time::sleep(pause).await;
        let Err(error) = blobs.prepare().await else {
            return tracing::info!("object storage is ready");
        };
        pause = pause_after(error.kind);
        if let Some(text) = refusals.new_text(&error) {
            tracing::error!("preparing object storage: {text}");
        }
    }
}

fn pause_after(kind: BlobErrorKind) -> Duration {
    if kind == BlobErrorKind::Unavailable { RETRY } else { REFUSED_RETRY }
}

/// The refusal of the store that was logged last.
#[derive(Default)]
struct Refusals(Option<String>);

impl Refusals {
    /// Returns the text to log; `None` for a repeated refusal. `/readyz` has the state of a store that does not answer, and the next
    /// attempts would only repeat the first warning.
    fn new_text(&mut self, error: &BlobError) -> Option<String> {
        let text = error_causes::describe(error);
        if error.kind == BlobErrorKind::Unavailable || self.0.as_ref() == Some(&text) {
            return None;
        }
        self.0 = Some(text.clone());
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_of_the_store_is_logged_once_and_tried_again_after_a_minute() {
        let denied = BlobError::new(BlobErrorKind::Denied, "the key is unknown");
        let silent = BlobError::new(BlobErrorKind::Unavailable, "no answer");
        let other = BlobError::new(BlobErrorKind::Denied, "the key is revoked");
        let mut refusals = Refusals::default();
        let logged =
            [&silent, &denied, &denied, &silent, &denied, &other].map(|error| refusals.new_text(error).is_some());
        assert_eq!(logged, [false, true, false, false, false, true]);
        assert_eq!(pause_after(silent.kind), Duration::from_secs(1));
        assert_eq!(pause_after(denied.kind), Duration::from_secs(60));
    }
}
