//! Use of the embedded index by a server and by commands. A server claims the index, and commands that feed it give way: a start waits
//! for seconds, not for the end of an import.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use docstore::Docstore;
use settings::{IndexBackend, Settings};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::compose::{self, OpenedIndex};
use crate::database_use::try_lock;
use crate::folder_permissions::INDEX_CLAIM;

/// Interval at which a command looks for a claim.
const CHECK: Duration = Duration::from_secs(1);
/// Time to wait for commands that look for a claim before another server is assumed.
const READERS_TIMEOUT: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(20);

/// Claim of a server, for as long as it runs.
pub struct IndexClaim {
    _lock: File,
}

/// Claims the embedded index for a server. `None` for an index that instances share.
///
/// # Errors
/// Another server has claimed it.
pub async fn claim(settings: &Settings) -> anyhow::Result<Option<IndexClaim>> {
    if !is_embedded(settings) {
        return Ok(None);
    }
    compose::data_dir(settings)?;
    let started = Instant::now();
    loop {
        if let Some(lock) = try_lock(&path(settings), File::try_lock)? {
            return Ok(Some(IndexClaim { _lock: lock }));
        }
        if started.elapsed() > READERS_TIMEOUT {
            bail!("another server uses the data folder `{}`", settings.data_dir.display());
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Opens the index for a command, unless a server owns or claims it.
pub async fn open(settings: &Settings, store: &Docstore) -> anyhow::Result<OpenedIndex> {
    if is_claimed(settings)? { Ok(OpenedIndex::OwnedElsewhere) } else { compose::index(settings, store).await }
}

/// Waits for work on an index that a command has opened. Once a server claims the index, cancels `stop`, at which the work must end.
pub async fn until_claimed<T>(settings: &Settings, stop: &CancellationToken, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    tokio::select! {
        outcome = &mut work => return outcome,
        () = claimed(settings) => stop.cancel(),
    }
    work.await
}

/// Returns once a server has claimed the index; never for an index that instances share.
async fn claimed(settings: &Settings) {
    loop {
        tokio::time::sleep(CHECK).await;
        match is_claimed(settings) {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => tracing::debug!("looking for a claim on the index: {error:#}"),
        }
    }
}

fn is_claimed(settings: &Settings) -> anyhow::Result<bool> {
    let path = path(settings);
    // Commands look with shared locks, which do not exclude each other.
    Ok(is_embedded(settings) && path.exists() && try_lock(&path, File::try_lock_shared)?.is_none())
}

fn is_embedded(settings: &Settings) -> bool {
    settings.index.backend == IndexBackend::Embedded
}

fn path(settings: &Settings) -> PathBuf {
    settings.data_dir.join(INDEX_CLAIM)
}
