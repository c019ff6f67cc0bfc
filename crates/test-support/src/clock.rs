use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::{Clock, SystemClock, Timestamp};

/// The system clock, moved forward by a test.
///
/// It keeps running, because the doubles for storage stamp objects with the system's time.
#[derive(Debug, Default)]
pub struct TestClock {
    ahead_millis: AtomicU64,
}

impl TestClock {
    pub fn advance(&self, duration: Duration) {
        let millis = u64::try_from(duration.as_millis()).unwrap();
        self.ahead_millis.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + Duration::from_millis(self.ahead_millis.load(Ordering::Relaxed))
    }
}
