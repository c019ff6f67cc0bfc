//! Single use of presigned URLs: reserved and used signatures.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::UsedSignature;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Use {
    /// An upload is in progress. It may fail and release the URL.
    Reserved,
    /// Used. Remembered until this time (Unix seconds), when the URL itself expires.
    Until(i64),
}

/// Signatures in memory. The journal makes the used ones survive a restart.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    uses: Mutex<HashMap<String, Use>>,
}

/// Exclusive right to use a URL. Dropping it releases the URL; committing the put uses it up.
#[derive(Debug)]
pub(crate) struct Reservation {
    signatures: Arc<Signatures>,
    used: UsedSignature,
}

/// Number of entries from which expired ones are pruned, which keeps that work off most calls.
const PRUNE_ABOVE: usize = 1024;

impl Signatures {
    fn uses(&self) -> MutexGuard<'_, HashMap<String, Use>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves the URL for one upload. Returns `None` if it is reserved or used.
    pub fn reserve(self: &Arc<Self>, signature: String, expires_at: i64, now: i64) -> Option<Reservation> {
        let mut uses = self.uses();
        if uses.contains_key(&signature) {
            return None;
        }
        if uses.len() >= PRUNE_ABOVE && uses.len().is_power_of_two() {
            uses.retain(|_, state| !matches!(state, Use::Until(until) if *until < now));
        }
        uses.insert(signature.clone(), Use::Reserved);
        Some(Reservation { signatures: Arc::clone(self), used: UsedSignature { signature, expires_at } })
    }

    /// Restores a used signature from the journal.
    pub(super) fn remember(&self, used: UsedSignature, now: i64) {
        if used.expires_at >= now {
            self.uses().insert(used.signature, Use::Until(used.expires_at));
        }
    }

    /// Returns the number of signatures in memory, with reserved and not yet pruned ones.
    pub(super) fn len(&self) -> usize {
        self.uses().len()
    }

    /// Returns the used signatures that the journal must keep.
    pub(super) fn used(&self, now: i64) -> Vec<UsedSignature> {
        let uses = self.uses();
        uses.iter()
            .filter_map(|(signature, state)| match state {
                Use::Until(until) if *until >= now => {
                    Some(UsedSignature { signature: signature.clone(), expires_at: *until })
                }
                Use::Until(_) | Use::Reserved => None,
            })
            .collect()
    }
}

impl Reservation {
    pub(super) fn signature(&self) -> &UsedSignature {
        &self.used
    }

    /// Marks the URL as used, after the put is in the journal.
    pub(super) fn consume(self) {
        self.signatures.uses().insert(self.used.signature.clone(), Use::Until(self.used.expires_at));
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut uses = self.signatures.uses();
        if uses.get(&self.used.signature) == Some(&Use::Reserved) {
            uses.remove(&self.used.signature);
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a_url_is_released_by_a_failed_upload_and_used_up_by_a_committed_one() {
        let signatures = Arc::new(Signatures::default());
        let first = signatures.reserve("s".to_owned(), 900, 0).unwrap();
        assert!(signatures.reserve("s".to_owned(), 900, 0).is_none(), "in use");
        assert!(signatures.reserve("t".to_owned(), 900, 0).is_some(), "another URL is available");
        drop(first);
        signatures.reserve("s".to_owned(), 900, 0).unwrap().consume();
        assert!(signatures.reserve("s".to_owned(), 900, 0).is_none(), "used up");
        assert_eq!(signatures.used(900).len(), 1);
        assert_eq!(signatures.used(901), []);
    }

    #[test]
    fn expired_signatures_are_pruned() {
        let signatures = Arc::new(Signatures::default());
        for number in 0..10 * PRUNE_ABOVE as i64 {
            signatures.reserve(number.to_string(), number, number).unwrap().consume();
        }
        assert!(signatures.uses().len() <= PRUNE_ABOVE + 1, "{} remembered", signatures.uses().len());
    }
}
