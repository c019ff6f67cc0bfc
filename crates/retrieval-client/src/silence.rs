//! Limit of the silence of an exchange, which does not limit its length.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// The time of the last sign of progress. Clones share it.
#[derive(Clone)]
pub(crate) struct Silence(Arc<Mutex<Instant>>);

impl Silence {
    /// Starts now.
    pub fn start() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    /// Notes progress, which ends the silence.
    pub fn interrupt(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Waits for the end of the exchange. Returns `None` after `limit` without progress.
    pub async fn limited<T>(&self, limit: Duration, exchange: impl Future<Output = T>) -> Option<T> {
        let mut exchange = std::pin::pin!(exchange);
        loop {
            let deadline = self.deadline(limit);
            match timeout_at(deadline, exchange.as_mut()).await {
                Ok(done) => return Some(done),
                Err(_) if self.deadline(limit) > deadline => {}
                Err(_) => return None,
            }
        }
    }

    fn deadline(&self, limit: Duration) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) + limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn steady_progress_has_no_limit() {
        let silence = Silence::start();
        let progress = silence.clone();
        let exchange = async {
            for _ in 0..100 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                progress.interrupt();
            }
        };
        assert_eq!(silence.limited(LIMIT, exchange).await, Some(()));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_the_exchange() {
        let silence = Silence::start();
        let (progress, start) = (silence.clone(), Instant::now());
        let exchange = async {
            tokio::time::sleep(Duration::from_secs(50)).await;
            progress.interrupt();
            std::future::pending::<()>().await;
        };
        assert_eq!(silence.limited(LIMIT, exchange).await, None);
        assert_eq!(start.elapsed().as_secs(), 110);
    }
}
