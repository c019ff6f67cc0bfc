//! Presigned URLs are good for one use: which ones are in use, and which are used up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::record::UsedSignature;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Use {
    /// An upload is going on; it may yet fail and give the URL back.
    Reserved,
    /// Until this time (Unix seconds), when the URL itself is too old.
    UpUntil(i64),
}

/// The memory of it; the journal makes the used ones survive a restart.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    uses: Mutex<HashMap<String, Use>>,
}

/// The right to use a URL, until it is dropped (which gives the URL back) or used up by the put that it was taken for.
#[derive(Debug)]
pub(crate) struct Reservation {
    signatures: Arc<Signatures>,
    used: UsedSignature,
}

/// Uses remembered before the expired ones are looked for: keeps that work off most calls.
const PRUNE_ABOVE: usize = 1024;

impl Signatures {
    fn uses(&self) -> MutexGuard<'_, HashMap<String, Use>> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the URL for one upload; `None` when another one has it or had it.
    pub fn reserve(self: &Arc<Self>, signature: String, expires_at: i64, now: i64) -> Option<Reservation> {
        let mut uses = self.uses();
        if uses.contains_key(&signature) {
            return None;
        }
        if uses.len() >= PRUNE_ABOVE && uses.len().is_power_of_two() {
            uses.retain(|_, state| !matches!(state, Use::UpUntil(until) if *until < now));
        }
        uses.insert(signature.clone(), Use::Reserved);
        Some(Reservation { signatures: Arc::clone(self), used: UsedSignature { signature, expires_at } })
    }

    /// Takes up what the journal remembers.
    pub(super) fn remember(&self, used: UsedSignature, now: i64) {
        if used.expires_at >= now {
            self.uses().insert(used.signature, Use::UpUntil(used.expires_at));
        }
    }

    /// What the journal must go on remembering.
    pub(super) fn used(&self, now: i64) -> Vec<UsedSignature> {
        let uses = self.uses();
        uses.iter()
            .filter_map(|(signature, state)| match state {
                Use::UpUntil(until) if *until >= now => {
                    Some(UsedSignature { signature: signature.clone(), expires_at: *until })
                }
                Use::UpUntil(_) | Use::Reserved => None,
            })
            .collect()
    }
}

impl Reservation {
    pub(super) fn signature(&self) -> &UsedSignature {
        &self.used
    }

    /// The put is in the journal: the URL is used up.
    pub(super) fn use_up(self) {
        self.signatures.uses().insert(self.used.signature.clone(), Use::UpUntil(self.used.expires_at));
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
    fn a_url_is_given_back_by_a_failed_upload_and_used_up_by_a_good_one() {
        let signatures = Arc::new(Signatures::default());
        let first = signatures.reserve("s".to_owned(), 900, 0).unwrap();
        assert!(signatures.reserve("s".to_owned(), 900, 0).is_none(), "in use");
        assert!(signatures.reserve("t".to_owned(), 900, 0).is_some(), "another URL is free");
        drop(first);
        signatures.reserve("s".to_owned(), 900, 0).unwrap().use_up();
        assert!(signatures.reserve("s".to_owned(), 900, 0).is_none(), "used up");
        assert_eq!(signatures.used(900).len(), 1);
        assert_eq!(signatures.used(901), []);
    }

    #[test]
    fn expired_uses_are_forgotten() {
        let signatures = Arc::new(Signatures::default());
        for number in 0..10 * PRUNE_ABOVE as i64 {
            signatures.reserve(number.to_string(), number, number).unwrap().use_up();
        }
        assert!(signatures.uses().len() <= PRUNE_ABOVE + 1, "{} remembered", signatures.uses().len());
    }
}
