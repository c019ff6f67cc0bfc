use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(2);

/// Repeats `probe` until it returns a value.
///
/// # Panics
/// After 20 seconds without one.
pub async fn until<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = probe().await {
            return value;
        }
        assert!(started.elapsed() < DEADLINE, "{what} did not happen within {DEADLINE:?}");
        tokio::time::sleep(PAUSE).await;
    }
}
