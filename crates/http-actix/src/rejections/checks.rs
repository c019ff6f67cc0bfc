//! Checks of credentials in progress, by source.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// Checks in progress. There are no more sources than requests in progress.
#[derive(Default)]
pub(super) struct Checks(HashMap<IpAddr, Checking>);

#[derive(Default)]
struct Checking {
    checks: usize,
    ended: Arc<Notify>,
}

impl Checks {
    /// Counts a check that begins.
    pub fn begin(&mut self, source: IpAddr) {
        self.0.entry(source).or_default().checks += 1;
    }

    /// Counts a check that ends. Wakes one request that waits if the check was free, since one more check is possible now, and all of
    /// them if none is left to wait for.
    pub fn end(&mut self, source: IpAddr, was_free: bool) {
        let Some(checking) = self.0.get_mut(&source) else { return };
        checking.checks = checking.checks.saturating_sub(1);
        if checking.checks == 0 {
            checking.ended.notify_waiters();
            self.0.remove(&source);
        } else if was_free {
            checking.ended.notify_one();
        }
    }

    /// Returns the time at which a source may be permitted another check, because a check has ended; `None` if none is in progress.
    pub fn ended(&self, source: IpAddr) -> Option<OwnedNotified> {
        // It counts from now on, also before it is awaited.
        self.0.get(&source).map(|checking| Arc::clone(&checking.ended).notified_owned())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::pin::Pin;

    use futures_util::FutureExt;

    use super::*;

    /// Removes the requests that were woken, and returns their number.
    fn woken(waiting: &mut Vec<Pin<Box<OwnedNotified>>>) -> usize {
        let before = waiting.len();
        waiting.retain_mut(|ended| ended.now_or_never().is_none());
        before - waiting.len()
    }

    #[test]
    fn last_end_wakes_all_that_wait_and_a_free_one_wakes_one() {
        let (source, other) = (IpAddr::from([203, 0, 113, 1]), IpAddr::from([203, 0, 113, 2]));
        let mut checks = Checks::default();
        assert!(checks.ended(source).is_none());
        (0..3).for_each(|_| checks.begin(source));
        checks.begin(other);
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(checks.ended(source).unwrap())).collect();
        assert_eq!(woken(&mut waiting), 0);
        checks.end(source, false);
        assert_eq!(woken(&mut waiting), 0, "nothing is left for another check");
        checks.end(source, true);
        assert_eq!(woken(&mut waiting), 1);
        let unpolled = checks.ended(source).unwrap();
        checks.end(source, false);
        assert_eq!(woken(&mut waiting), 2);
        assert!(unpolled.now_or_never().is_some());
        assert!(checks.ended(source).is_none() && checks.ended(other).is_some());
    }
}
