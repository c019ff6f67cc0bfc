use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a condition is looked at.
const PAUSE: Duration = Duration::from_millis(10);

/// Looks until there is something; panics with `what` after the deadline.
#[track_caller]
pub fn until<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < deadline, "not within {deadline:?}: {what}");
        sleep(PAUSE);
    }
}
