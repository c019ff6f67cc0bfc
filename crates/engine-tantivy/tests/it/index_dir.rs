use std::fs;
use std::path::{Path, PathBuf};

use engine::{EngineErrorKind, SearchEngine};
use engine_tantivy::{IndexDirState, TantivyEngine, TantivyOptions};
use model::IndexName;

use crate::{count, open, put, total};

#[tokio::test]
async fn changes_survive_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    engine.apply(IndexName::Web, vec![put(1, "copper"), put(2, "brass")]).await.expect("changes");
    drop(engine);
    let engine = open(folder.path());
    assert_eq!(total(&engine, "copper").await, 1);
    assert_eq!(count(&engine).await, 2);
    engine.ping().await.expect("a ping");
}

#[tokio::test]
async fn directory_is_locked_by_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let owner = open(folder.path());
    let second = TantivyEngine::try_open(folder.path(), TantivyOptions::default()).expect("no failure");
    assert!(second.is_none());
    let Err(error) = TantivyEngine::open(folder.path(), TantivyOptions::default()) else { panic!("two owners") };
    assert_eq!(error.kind, EngineErrorKind::Unavailable);
    drop(owner);
    assert!(TantivyEngine::try_open(folder.path(), TantivyOptions::default()).expect("no failure").is_some());
}

#[tokio::test]
async fn new_directory_needs_rebuild_until_marked() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(needs_rebuild(&open(folder.path())).await);
    // Also after a crash during the rebuild.
    let engine = open(folder.path());
    assert!(needs_rebuild(&engine).await);
    engine.mark_rebuilt(IndexName::ALL).await.expect("marked");
    assert!(!needs_rebuild(&engine).await);
    drop(engine);
    assert!(!needs_rebuild(&open(folder.path())).await);
}

async fn needs_rebuild(engine: &TantivyEngine) -> bool {
    !engine.needs_rebuild().await.expect("a rebuild state").is_empty()
}

/// Damages an index and checks that it opens empty, works, and needs a rebuild.
async fn check_recovery(damage: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    engine.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    engine.mark_rebuilt(IndexName::ALL).await.expect("marked");
    drop(engine);
    damage(folder.path());
    let engine = open(folder.path());
    assert!(needs_rebuild(&engine).await);
    assert_eq!(count(&engine).await, 0);
    engine.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    assert_eq!(total(&engine, "copper").await, 1);
}

#[tokio::test]
async fn corrupt_metadata_is_replaced() {
    check_recovery(|folder| fs::write(folder.join("web/meta.json"), "garbage").expect("written")).await;
}

#[tokio::test]
async fn lost_index_is_replaced() {
    check_recovery(|folder| {
        fs::remove_dir_all(folder.join("web")).expect("removed");
        assert_eq!(TantivyEngine::inspect(folder).expect("a state"), IndexDirState::NeedsRebuild);
    })
    .await;
}

#[tokio::test]
async fn lost_metadata_is_replaced() {
    check_recovery(|folder| fs::remove_file(folder.join("web/meta.json")).expect("removed")).await;
}

#[tokio::test]
async fn lost_segment_is_replaced() {
    check_recovery(|folder| {
        for file in segment_files(folder) {
            fs::remove_file(file).expect("removed");
        }
    })
    .await;
}

#[tokio::test]
async fn truncated_segment_is_replaced() {
    check_recovery(|folder| {
        for file in segment_files(folder) {
            fs::write(file, "x").expect("written");
        }
    })
    .await;
}

#[tokio::test]
async fn index_of_other_version_is_replaced() {
    check_recovery(|folder| fs::write(folder.join("VERSION"), "older").expect("written")).await;
}

#[tokio::test]
async fn file_in_place_of_index_is_replaced() {
    check_recovery(|folder| {
        fs::remove_dir_all(folder.join("web")).expect("removed");
        fs::write(folder.join("web"), "not a folder").expect("written");
    })
    .await;
}

/// Makes a file unreadable, also for root, by a directory in its place. Checks that the indexes do not open, and are kept.
async fn check_kept(file: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    engine.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    engine.mark_rebuilt(IndexName::ALL).await.expect("marked");
    drop(engine);
    let (path, saved) = (folder.path().join(file), folder.path().join("saved"));
    fs::rename(&path, &saved).expect("renamed");
    fs::create_dir(&path).expect("created");
    let Err(error) = TantivyEngine::open(folder.path(), TantivyOptions::default()) else { panic!("it opens") };
    assert_eq!(error.kind, EngineErrorKind::Unavailable);
    fs::remove_dir(&path).expect("removed");
    fs::rename(&saved, &path).expect("renamed");
    let engine = open(folder.path());
    assert!(!needs_rebuild(&engine).await);
    assert_eq!(total(&engine, "copper").await, 1);
}

#[tokio::test]
async fn index_whose_metadata_cannot_be_read_is_kept() {
    check_kept("web/meta.json").await;
}

#[tokio::test]
async fn indexes_whose_version_cannot_be_read_are_kept() {
    check_kept("VERSION").await;
}

#[tokio::test]
async fn generation_that_cannot_be_read_is_not_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    let path = folder.path().join("GENERATION-web");
    fs::create_dir(&path).expect("created");
    let error = engine.generation(IndexName::Web).await.expect_err("no file");
    assert_eq!(error.kind, EngineErrorKind::Unavailable);
    fs::remove_dir(&path).expect("removed");
    fs::write(&path, "garbage").expect("written");
    assert_eq!(engine.generation(IndexName::Web).await.expect("no failure"), None);
}

#[tokio::test]
async fn index_that_is_damaged_while_open_is_rebuilt() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    engine.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("changes");
    engine.mark_rebuilt(IndexName::ALL).await.expect("marked");
    drop(engine);
    let meta = folder.path().join("web/meta.json");
    for damage in [|meta: &Path| fs::remove_file(meta), |meta: &Path| fs::write(meta, "garbage")] {
        let engine = open(folder.path());
        assert!(!needs_rebuild(&engine).await);
        damage(&meta).expect("damaged");
        let error = engine.apply(IndexName::Web, vec![put(2, "copper")]).await.expect_err("a damaged index");
        assert_eq!(error.kind, EngineErrorKind::Corrupt);
        assert!(needs_rebuild(&engine).await);
        assert!(folder.path().join("REBUILD").exists());
        engine.mark_rebuilt(IndexName::ALL).await.expect("marked");
        engine.clear(IndexName::Web).await.expect("cleared");
        engine.apply(IndexName::Web, vec![put(3, "copper")]).await.expect("changes");
        assert_eq!(count(&engine).await, 1);
        assert!(!needs_rebuild(&engine).await);
    }
}

#[tokio::test]
async fn ping_fails_without_version_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    engine.ping().await.expect("a ping");
    fs::remove_file(folder.path().join("VERSION")).expect("removed");
    assert!(engine.ping().await.is_err());
}

fn segment_files(folder: &Path) -> Vec<PathBuf> {
    let files: Vec<PathBuf> = fs::read_dir(folder.join("web"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "idx" || extension == "term"))
        .collect();
    assert!(!files.is_empty());
    files
}
