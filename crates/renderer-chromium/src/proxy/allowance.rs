//! Bytes that the scripts of one page may exchange, and the organization that they do it for.

use std::sync::atomic::{AtomicUsize, Ordering};

use model::OrganizationId;
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

pub struct Allowance {
    /// Organization whose share of the name lookups the page uses.
    pub organization_id: OrganizationId,
    left: AtomicUsize,
    ended: CancellationToken,
}

impl Allowance {
    pub fn new(bytes: usize, organization_id: OrganizationId) -> Self {
        Self { organization_id, left: AtomicUsize::new(bytes), ended: CancellationToken::new() }
    }

    /// Counts transferred bytes. Returns false, and ends all connections of the page, if they are too many.
    pub fn spend(&self, bytes: usize) -> bool {
        let spent = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        if spent.is_err() {
            self.ended.cancel();
        }
        spent.is_ok()
    }

    /// Ends all connections of the page.
    pub fn end(&self) {
        self.ended.cancel();
    }

    /// Waits until the connections must end.
    pub fn ended(&self) -> WaitForCancellationFuture<'_> {
        self.ended.cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_beyond_the_allowance_end_it() {
        let allowance = Allowance::new(10, OrganizationId::NOBODY);
        assert!(allowance.spend(4) && allowance.spend(6) && allowance.spend(0));
        assert!(!allowance.ended.is_cancelled());
        assert!(!allowance.spend(1));
        assert!(allowance.ended.is_cancelled());
    }
}
