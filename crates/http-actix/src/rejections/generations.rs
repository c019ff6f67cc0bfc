//! Map of bounded size that forgets its oldest entries.

use std::collections::HashMap;
use std::hash::Hash;

/// Entries in two generations: when the present one is full, the one before is dropped.
pub(super) struct Generations<K, V> {
    present: HashMap<K, V>,
    before: HashMap<K, V>,
    capacity: usize,
}

impl<K: Eq + Hash, V> Generations<K, V> {
    /// Creates a map that keeps the last `capacity` entries, and at most twice as many.
    pub fn new(capacity: usize) -> Self {
        Self { present: HashMap::new(), before: HashMap::new(), capacity }
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.present.get(key).or_else(|| self.before.get(key))
    }

    pub fn insert(&mut self, key: K, value: V) {
        if self.present.len() >= self.capacity && !self.present.contains_key(&key) {
            self.before = std::mem::take(&mut self.present);
        }
        self.present.insert(key, value);
    }

    pub fn remove(&mut self, key: &K) {
        self.present.remove(key);
        self.before.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::Generations;

    #[test]
    fn last_entries_are_kept_in_bounded_memory() {
        let mut map = Generations::new(10);
        for key in 0..1_000 {
            map.insert(key, key);
            assert!(map.present.len() <= 10 && map.before.len() <= 10);
        }
        assert!((990..1_000).all(|key| map.get(&key) == Some(&key)));
        assert_eq!(map.get(&0), None);
        map.remove(&995);
        assert_eq!(map.get(&995), None);
    }
}
