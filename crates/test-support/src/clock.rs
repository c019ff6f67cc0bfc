use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use model::{Clock, SystemClock, Timestamp};

/// The system clock, moved by a test.
///
/// It keeps running, because the doubles for storage stamp objects with the system's time.
#[derive(Debug, Default)]
pub struct TestClock {
    ahead_millis: AtomicI64,
}

impl TestClock {
    pub fn advance(&self, duration: Duration) {
        self.ahead_millis.fetch_add(millis(duration), Ordering::Relaxed);
    }

    pub fn set_back(&self, duration: Duration) {
        self.ahead_millis.fetch_sub(millis(duration), Ordering::Relaxed);
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap()
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now().as_millis();
        Timestamp::from_millis(now + self.ahead_millis.load(Ordering::Relaxed))
    }
}
