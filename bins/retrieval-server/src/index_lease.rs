//! Lease of the embedded index of a database. Of two servers with an index of their own, each would take changes that the index of the
//! other one then lacks.

use std::time::Duration;

use docstore::Docstore;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

const NAME: &str = "embedded-index";
/// Time after which the lease of a server that has ended, or lost the database, is free.
pub const LEASE: Duration = Duration::from_secs(15);
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Lease of a server, renewed until it is released or dropped.
pub struct IndexLease {
    pub owner: String,
    store: Docstore,
    lost: CancellationToken,
    stop: DropGuard,
    renewing: JoinHandle<()>,
}

impl IndexLease {
    /// Takes the lease: from `predecessor`, an owner that has ended, at once. `None` while another server holds it.
    pub async fn take(store: &Docstore, predecessor: &str) -> docstore::Result<Option<Self>> {
        store.release_lease(NAME.to_owned(), predecessor.to_owned()).await?;
        let owner = Uuid::new_v4().to_string();
        if !acquire(store, &owner).await? {
            return Ok(None);
        }
        let (lost, stop) = (CancellationToken::new(), CancellationToken::new());
        let renewing = tokio::spawn(renew(store.clone(), owner.clone(), lost.clone(), stop.clone()));
        Ok(Some(Self { owner, store: store.clone(), lost, stop: stop.drop_guard(), renewing }))
    }

    /// Returns once another server has taken the lease: the database did not respond to this one for too long, or the other server has a
    /// copy of its data folder.
    pub async fn lost(&self) {
        self.lost.cancelled().await;
    }

    /// Releases the lease, so that another server need not wait until it is over.
    pub async fn release(self) -> docstore::Result<()> {
        let Self { owner, store, stop, renewing, .. } = self;
        drop(stop);
        // A renewal in progress would take the lease again.
        let _ = renewing.await;
        store.release_lease(NAME.to_owned(), owner).await
    }
}

/// Returns true if a server holds the lease, or has held it until some seconds ago.
pub async fn is_held(store: &Docstore) -> docstore::Result<bool> {
    store.is_leased(NAME.to_owned(), store.clock().now()).await
}

async fn acquire(store: &Docstore, owner: &str) -> docstore::Result<bool> {
    let now = store.clock().now();
    store.acquire_lease(NAME.to_owned(), owner.to_owned(), now, now + LEASE).await
}

/// Renews the lease at intervals until `stop`. Cancels `lost` if another server has it.
async fn renew(store: Docstore, owner: String, lost: CancellationToken, stop: CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(HEARTBEAT)).await.is_some() {
        match acquire(&store, &owner).await {
            Ok(true) => {}
            Ok(false) => return lost.cancel(),
            // Renewed once the database responds, unless another server has taken it by then.
            Err(error) => tracing::debug!("renewing the lease of the embedded index: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use docstore::Location;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn lease_has_one_owner_and_passes_to_its_successor() {
        let folder = tempfile::tempdir().unwrap();
        let store = Docstore::open(&Location::Sqlite(folder.path().join("test.db")), 2).unwrap();
        store.migrate().await.unwrap();
        assert!(!is_held(&store).await.unwrap());
        let first = IndexLease::take(&store, "").await.unwrap().unwrap();
        assert!(is_held(&store).await.unwrap());
        assert!(IndexLease::take(&store, "").await.unwrap().is_none());
        assert!(IndexLease::take(&store, "another").await.unwrap().is_none());

        // As after a crash.
        let second = IndexLease::take(&store, &first.owner).await.unwrap().unwrap();
        assert!(IndexLease::take(&store, &first.owner).await.unwrap().is_none());
        tokio::time::timeout(LEASE, first.lost()).await.unwrap();
        first.release().await.unwrap();
        assert!(is_held(&store).await.unwrap(), "it is of the second one");
        second.release().await.unwrap();
        assert!(!is_held(&store).await.unwrap());
        assert!(IndexLease::take(&store, "").await.unwrap().is_some());
    }
}
