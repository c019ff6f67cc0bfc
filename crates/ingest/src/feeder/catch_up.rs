//! Catching up with the outbox on behalf of a command.

use std::time::Duration;

use model::IndexName;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{FeedError, Feeder};

/// Interval of attempts to take over the lease of another process.
const RETRY: Duration = Duration::from_millis(500);

impl Feeder {
    /// Returns true once every outbox entry up to `newest` has reached the index: by this process, or by another one while that
    /// holds the lease. Returns false if it has to leave the rest to others because of `stop`. `progress` is called with the
    /// number of entries left, repeatedly.
    ///
    /// # Errors
    /// `Timeout` if the other process makes no progress for `patience`; failures of this process.
    pub async fn catch_up(
        &self,
        index: IndexName,
        newest: i64,
        patience: Duration,
        stop: &CancellationToken,
        mut progress: impl FnMut(i64),
    ) -> Result<bool, FeedError> {
        let mut last = (None, Instant::now());
        loop {
            let pass = async {
                self.restore().await?;
                self.drain_with_progress(index, stop, &mut progress).await
            };
            match pass.await {
                // Another process has taken over.
                Ok(()) | Err(FeedError::LeaseLost(_)) => {}
                Err(error) => return Err(error),
            }
            let oldest = match self.store.outbox_bounds(index).await? {
                Some((oldest, _)) if oldest <= newest => oldest,
                Some(_) | None => return Ok(true),
            };
            if stop.is_cancelled() {
                return Ok(false);
            }
            if last.0 != Some(oldest) {
                last = (Some(oldest), Instant::now());
            } else if last.1.elapsed() > patience {
                return Err(FeedError::Timeout(patience));
            }
            stop.run_until_cancelled(tokio::time::sleep(RETRY)).await;
        }
    }

    async fn drain_with_progress(
        &self,
        index: IndexName,
        stop: &CancellationToken,
        progress: &mut impl FnMut(i64),
    ) -> Result<(), FeedError> {
        let indexes = [index];
        let draining = self.drain_in_turn(&indexes, stop);
        tokio::pin!(draining);
        loop {
            tokio::select! {
                drained = &mut draining => return drained.map(drop),
                () = tokio::time::sleep(RETRY) => progress(self.store.count_outbox(index).await?),
            }
        }
    }
}
