//! Use of the embedded index by a server and by commands. A server claims the index, and commands that feed it give way: a start waits
//! for seconds, not for the end of an import.
//!
//! The claim is a lock on a file of the data folder and, as servers with other folders may use the same PostgreSQL, a lease in the database.
//! The file has the owner of that lease: whoever has the lock knows that this owner has ended, and need not wait for its lease.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use docstore::{Docstore, Location};
use settings::{IndexBackend, Settings};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::compose::{self, OpenedIndex};
use crate::database_use::try_lock;
use crate::folder_permissions::INDEX_CLAIM;
use crate::index_lease::{self, IndexLease};

/// Interval at which a command looks for a claim.
const CHECK: Duration = Duration::from_secs(1);
/// Time to wait for commands that look for a claim before another server is assumed.
const READERS_TIMEOUT: Duration = Duration::from_secs(1);
/// Time to wait for the lease: longer than that of a server which has ended.
const LEASE_TIMEOUT: Duration = index_lease::LEASE.saturating_add(Duration::from_secs(5));
const LEASE_RETRY: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(20);

/// Claim of a server, for as long as it runs.
pub struct IndexClaim {
    _lock: File,
    /// `None` for SQLite.
    lease: Option<IndexLease>,
}

impl IndexClaim {
    /// Returns once another server has taken the index over: this one must end.
    pub async fn lost(&self) {
        match &self.lease {
            Some(lease) => lease.lost().await,
            None => std::future::pending().await,
        }
    }

    /// Gives the index to the next server.
    pub async fn release(self) -> docstore::Result<()> {
        match self.lease {
            Some(lease) => lease.release().await,
            None => Ok(()),
        }
    }
}

/// Claims the embedded index for a server. `None` for an index that instances share.
///
/// # Errors
/// Another server has claimed it.
pub async fn claim(settings: &Settings, store: &Docstore) -> anyhow::Result<Option<IndexClaim>> {
    if !is_embedded(settings) {
        return Ok(None);
    }
    compose::data_dir(settings)?;
    let path = path(settings);
    let lock = lock(settings, &path).await?;
    let lease = if has_lease(settings)? { Some(lease(store, &path).await?) } else { None };
    Ok(Some(IndexClaim { _lock: lock, lease }))
}

async fn lock(settings: &Settings, path: &Path) -> anyhow::Result<File> {
    let started = Instant::now();
    loop {
        if let Some(lock) = try_lock(path, File::try_lock)? {
            return Ok(lock);
        }
        if started.elapsed() > READERS_TIMEOUT {
            bail!("another server uses the data folder `{}`", settings.data_dir.display());
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Takes the lease, and notes its owner in the locked file at `path`.
async fn lease(store: &Docstore, path: &Path) -> anyhow::Result<IndexLease> {
    let predecessor = fs::read_to_string(path).unwrap_or_default();
    let started = Instant::now();
    loop {
        if let Some(lease) = IndexLease::take(store, &predecessor).await? {
            // Without the note, a start after a crash waits until the lease is over.
            if let Err(error) = fs::write(path, &lease.owner) {
                tracing::warn!("writing `{}`: {error}", path.display());
            }
            return Ok(lease);
        }
        if started.elapsed() > LEASE_TIMEOUT {
            bail!(
                "another server owns the embedded index of this database, with another data folder: stop it, or set `index.backend` to \
                 \"meilisearch\" or \"qdrant\" for several servers"
            );
        }
        tracing::warn!("waiting for the server that owns the embedded index of this database");
        tokio::time::sleep(LEASE_RETRY).await;
    }
}

/// Opens the index for a command, unless a server owns or claims it.
pub async fn open(settings: &Settings, store: &Docstore) -> anyhow::Result<OpenedIndex> {
    match is_claimed(settings, store).await? {
        true => Ok(OpenedIndex::OwnedElsewhere),
        false => compose::index(settings, store).await,
    }
}

/// Waits for work on an index that a command has opened. Once a server claims the index, cancels `stop`, at which the work must end.
pub async fn until_claimed<T>(
    settings: &Settings,
    store: &Docstore,
    stop: &CancellationToken,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    tokio::select! {
        outcome = &mut work => return outcome,
        () = claimed(settings, store) => stop.cancel(),
    }
    work.await
}

/// Returns once a server has claimed the index; never for an index that instances share.
async fn claimed(settings: &Settings, store: &Docstore) {
    loop {
        tokio::time::sleep(CHECK).await;
        match is_claimed(settings, store).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => tracing::debug!("looking for a claim on the index: {error:#}"),
        }
    }
}

async fn is_claimed(settings: &Settings, store: &Docstore) -> anyhow::Result<bool> {
    if !is_embedded(settings) {
        return Ok(false);
    }
    let path = path(settings);
    // Commands look with shared locks, which do not exclude each other.
    let is_locked = path.exists() && try_lock(&path, File::try_lock_shared)?.is_none();
    Ok(is_locked || (has_lease(settings)? && index_lease::is_held(store).await?))
}

fn has_lease(settings: &Settings) -> anyhow::Result<bool> {
    Ok(matches!(compose::location(settings)?, Location::Postgres(_)))
}

fn is_embedded(settings: &Settings) -> bool {
    settings.index.backend == IndexBackend::Embedded
}

fn path(settings: &Settings) -> PathBuf {
    settings.data_dir.join(INDEX_CLAIM)
}
