//! Reservation of loopback ports for one test.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;

/// First port: below the range of outgoing connections, which could take a port between two starts of a server.
const FIRST: u16 = 14_000;
const BLOCKS: u16 = 4_000;
const BLOCK: u16 = 4;

/// Three ports, reserved among all test processes of the machine until dropped.
pub struct Ports {
    pub api: u16,
    pub operations: u16,
    pub storage: u16,
    _lock: File,
}

impl Ports {
    pub fn reserve() -> Self {
        let folder = std::env::temp_dir().join("retrieval-server-test-ports");
        fs::create_dir_all(&folder).unwrap();
        let start = u16::try_from(RandomState::new().hash_one(0) % u64::from(BLOCKS)).unwrap();
        for step in 0..BLOCKS {
            let first = FIRST + (start + step) % BLOCKS * BLOCK;
            // A kernel lock: a killed test releases its block.
            let lock = File::create(folder.join(first.to_string())).unwrap();
            if lock.try_lock().is_ok() && (first..first + 3).all(is_free) {
                return Self { api: first, operations: first + 1, storage: first + 2, _lock: lock };
            }
        }
        panic!("no three ports are free");
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}
