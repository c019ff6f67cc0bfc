//! Dependencies that cannot be reached while an instance starts.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use blobs::{BlobError, BlobErrorKind, BlobStore};
use docstore::{Docstore, StoreError};
use settings::Settings;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::compose::{self, Index, OpenedIndex};
use crate::database_use::DatabaseUse;
use crate::index_use::{self, IndexClaim};

/// Time that a start waits for the database: services that start together are not ready at the same time.
const DATABASE_PATIENCE: Duration = Duration::from_secs(60);
/// Time that a start waits for a command to give way: it looks every second, and ends its batch.
const INDEX_PATIENCE: Duration = Duration::from_secs(60);
/// Time that a start waits for object storage. Its own attempts take longer.
const STORAGE_PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_secs(1);

/// Opens the database, and waits for one that does not answer yet.
///
/// # Errors
/// Those of [`compose::server_docstore`]; `Unavailable` after a minute.
pub async fn database(settings: &Settings) -> anyhow::Result<(Docstore, Option<DatabaseUse>)> {
    let deadline = Instant::now() + DATABASE_PATIENCE;
    loop {
        match compose::server_docstore(settings).await {
            Err(error) if is_unavailable(&error) && Instant::now() < deadline => {
                tracing::warn!("waiting for the database: {error:#}");
            }
            outcome => return outcome,
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Opens the index, and waits for a command that has opened an embedded one. `None` if search is disabled.
///
/// # Errors
/// Another server uses an embedded index; the command does not give way.
pub async fn index(settings: &Settings, store: &Docstore) -> anyhow::Result<(Option<Index>, Option<IndexClaim>)> {
    let claim = index_use::claim(settings).await?;
    let deadline = Instant::now() + INDEX_PATIENCE;
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
    loop {
        tokio::time::sleep(RETRY).await;
        match blobs.prepare().await {
            Ok(()) => return tracing::info!("object storage is ready"),
            // `/readyz` has the state of the store, and the next attempts would only repeat the first warning.
            Err(error) if error.kind == BlobErrorKind::Unavailable => {}
            Err(error) => tracing::error!("preparing object storage: {}", error_causes::describe(&error)),
        }
    }
}
