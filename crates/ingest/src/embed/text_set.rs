//! Sets of texts that rounds remember.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::OrganizationId;

use super::text::TextDigest;

/// Maximum number of texts, those of 50 long documents: about 5 MB.
const MAX_TEXTS: usize = 100_000;

/// Owner and digest of a text. Texts are shared between documents of one owner only.
pub type Key = (Option<OrganizationId>, TextDigest);

/// Set of texts. A full one is cleared: what it tells can be found out again. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct TextSet(Arc<Mutex<HashSet<Key>>>);

impl TextSet {
    pub fn contains(&self, key: &Key) -> bool {
        self.lock().contains(key)
    }

    pub fn insert(&self, key: Key) {
        let mut texts = self.lock();
        if texts.len() >= MAX_TEXTS {
            texts.clear();
        }
        texts.insert(key);
    }

    pub fn remove(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn texts_are_those_of_an_owner() {
        let (set, key) = (TextSet::default(), (None, [7; 16]));
        set.clone().insert(key);
        assert!(set.contains(&key));
        assert!(!set.contains(&(Some(OrganizationId(Uuid::nil())), [7; 16])));
        set.remove(&key);
        assert!(!set.contains(&key));
    }

    #[test]
    fn full_set_is_cleared() {
        let (set, key) = (TextSet::default(), |text: usize| (None, (text as u128).to_be_bytes()));
        (0..MAX_TEXTS).for_each(|text| set.insert(key(text)));
        assert!(set.contains(&key(0)));
        set.insert(key(MAX_TEXTS));
        assert!(set.contains(&key(MAX_TEXTS)) && !set.contains(&key(0)));
        assert_eq!(set.lock().len(), 1);
    }
}
