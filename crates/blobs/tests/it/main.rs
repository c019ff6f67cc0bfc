#![expect(clippy::unwrap_used, reason = "a test")]

use blobs::memory::MemoryStore;

#[tokio::test]
async fn the_memory_store_conforms() {
    let scratch = tempfile::tempdir().unwrap();
    blobs::conformance::run(&MemoryStore::new(), scratch.path()).await;
}
