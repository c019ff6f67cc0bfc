use std::thread::sleep;
use std::time::{Duration, Instant};

const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Polls until there is a value; panics with `what` after the deadline.
#[track_caller]
pub fn until<T>(what: &str, deadline: Duration, mut poll: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(started.elapsed() < deadline, "timeout after {deadline:?}: {what}");
        sleep(POLL_INTERVAL);
    }
}
