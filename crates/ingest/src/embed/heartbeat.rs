//! Work with a heartbeat.

use std::time::Duration;

/// Runs `work`, and `beat` at every interval until its end.
pub async fn with_heartbeat<T, F>(interval: Duration, beat: impl Fn() -> F, work: impl Future<Output = T>) -> T
where
    F: Future<Output = ()>,
{
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            outcome = &mut work => return outcome,
            () = tokio::time::sleep(interval) => beat().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn heart_beats_until_the_work_ends() {
        let beats = AtomicUsize::new(0);
        let work = async {
            while beats.load(Ordering::Relaxed) < 3 {
                tokio::task::yield_now().await;
            }
            "done"
        };
        let beat = || async {
            beats.fetch_add(1, Ordering::Relaxed);
        };
        assert_eq!(with_heartbeat(Duration::from_millis(1), beat, work).await, "done");
        assert_eq!(beats.load(Ordering::Relaxed), 3);
    }
}
