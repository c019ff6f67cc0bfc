//! Maps and sets of a page's nodes.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use dom_query::NodeId;

pub(super) type NodeMap<V> = HashMap<NodeId, V, BuildHasherDefault<NodeHasher>>;
pub(super) type NodeSet = HashSet<NodeId, BuildHasherDefault<NodeHasher>>;

/// Multiplicative hash of node ids. They are positions in the tree, so a page cannot choose colliding ones.
#[derive(Default)]
pub(super) struct NodeHasher(u64);

/// Odd number near 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for NodeHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(MULTIPLIER);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
