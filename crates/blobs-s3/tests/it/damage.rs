//! Objects that were damaged on the disk of the embedded store.

use std::path::{Path, PathBuf};

use blobs::{BlobErrorKind, BlobStore};

use crate::server::Fixture;

/// Returns the files with the contents of objects.
fn contents(root: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root.join("objects")).unwrap().map(|entry| entry.unwrap().path());
    folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())).collect()
}

async fn check(damage: impl FnOnce(&Path)) {
    let fixture = Fixture::start().await;
    // Larger than one slice of a response.
    fixture.store.put("a", vec![b'x'; 600_000].into()).await.unwrap();
    let [content] = contents(fixture.folder.path()).try_into().unwrap();
    damage(&content);
    let read = fixture.store.get("a", 1 << 20).await.unwrap_err();
    assert_eq!(read.kind, BlobErrorKind::Corrupt, "{read}");
    let path = fixture.folder.path().join("download");
    let streamed = fixture.store.get_to_file("a", &path, 1 << 20).await.unwrap_err();
    assert_eq!(streamed.kind, BlobErrorKind::Corrupt, "{streamed}");
    assert!(!path.exists());
    fixture.store.put("a", "whole again".into()).await.unwrap();
    assert_eq!(fixture.store.get("a", 100).await.unwrap().unwrap().1, "whole again");
}

#[tokio::test]
async fn other_bytes_of_the_same_length_are_noticed() {
    check(|content| std::fs::write(content, vec![0; 600_000]).unwrap()).await;
}

#[tokio::test]
async fn truncated_object_is_noticed() {
    check(|content| std::fs::File::options().write(true).open(content).unwrap().set_len(1_000).unwrap()).await;
}

#[tokio::test]
async fn lost_content_is_noticed() {
    check(|content| std::fs::remove_file(content).unwrap()).await;
}
