//! Leases of indexes that processes share.

use std::time::Duration;

use model::IndexName;

use super::{FeedError, Feeder, Ownership};

const LEASE: Duration = Duration::from_secs(15);
/// Interval of renewals during work that needs the lease.
const HEARTBEAT: Duration = Duration::from_secs(5);

impl Feeder {
    /// Acquires or renews the lease of an index. Returns false if another process holds it.
    pub(super) async fn acquire_lease(&self, index: IndexName) -> Result<bool, FeedError> {
        if self.ownership == Ownership::Exclusive {
            return Ok(true);
        }
        let now = self.clock.now();
        Ok(self.store.acquire_lease(lease_name(index), self.owner.clone(), now, now + LEASE).await?)
    }

    /// Acquires or renews the lease of an index.
    ///
    /// # Errors
    /// `LeaseLost` if another process holds it.
    pub(super) async fn require_lease(&self, index: IndexName) -> Result<(), FeedError> {
        if self.acquire_lease(index).await? { Ok(()) } else { Err(FeedError::LeaseLost(index)) }
    }

    /// Does work that needs a lease which was acquired just now, and renews it meanwhile.
    ///
    /// # Errors
    /// Those of the work, and those of [`require_lease`](Self::require_lease), which end the work.
    pub(super) async fn keep_lease<T>(
        &self,
        index: IndexName,
        work: impl Future<Output = Result<T, FeedError>>,
    ) -> Result<T, FeedError> {
        self.keep_leases(&[index], work).await
    }

    /// Does work like [`keep_lease`](Self::keep_lease) that needs the leases of several indexes.
    pub(super) async fn keep_leases<T>(
        &self,
        indexes: &[IndexName],
        work: impl Future<Output = Result<T, FeedError>>,
    ) -> Result<T, FeedError> {
        if self.ownership == Ownership::Exclusive {
            return work.await;
        }
        with_heartbeat(work, || self.require_leases(indexes)).await
    }

    async fn require_leases(&self, indexes: &[IndexName]) -> Result<(), FeedError> {
        for index in indexes {
            self.require_lease(*index).await?;
        }
        Ok(())
    }

    /// Releases the leases of all indexes, so that other processes need not wait for their expiry. Call it after the last pass: it
    /// settles batches that ended in an error.
    pub async fn release_leases(&self) -> Result<(), FeedError> {
        if self.ownership == Ownership::Exclusive {
            return Ok(());
        }
        self.settle().await?;
        for index in IndexName::ALL {
            self.store.release_lease(lease_name(*index), self.owner.clone()).await?;
        }
        Ok(())
    }
}

fn lease_name(index: IndexName) -> String {
    format!("feeder:{index}")
}

/// Does work and calls `renew` at intervals meanwhile. The first error of either ends both.
async fn with_heartbeat<T, F>(
    work: impl Future<Output = Result<T, FeedError>>,
    renew: impl Fn() -> F,
) -> Result<T, FeedError>
where
    F: Future<Output = Result<(), FeedError>>,
{
    let renewing = async {
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            if let Err(error) = renew().await {
                return error;
            }
        }
    };
    tokio::select! {
        outcome = work => outcome,
        error = renewing => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn lease_is_renewed_while_work_takes_longer() {
        let renewals = AtomicU32::new(0);
        let renew = || {
            renewals.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Ok(()))
        };
        let work = async {
            tokio::time::sleep(LEASE + Duration::from_secs(2)).await;
            Ok::<_, FeedError>("done")
        };
        assert!(matches!(with_heartbeat(work, renew).await, Ok("done")));
        assert_eq!(renewals.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn work_ends_when_the_lease_is_lost() {
        let (started, renewals) = (Instant::now(), AtomicU32::new(0));
        let renew = || {
            let is_first = renewals.fetch_add(1, Ordering::SeqCst) == 0;
            std::future::ready(if is_first { Ok(()) } else { Err(FeedError::LeaseLost(IndexName::Web)) })
        };
        let outcome = with_heartbeat(std::future::pending::<Result<(), FeedError>>(), renew).await;
        assert!(matches!(outcome, Err(FeedError::LeaseLost(IndexName::Web))), "{outcome:?}");
        assert!(started.elapsed() < LEASE);
    }
}
