use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use app::files::{PageRequest, PresignRequest};
use app::{Error, Quota};
use blobs::{BlobErrorKind, BlobStore};
use ingest::objects;
use model::{Clock, FileStatus, RunMode, RunState, RunStats, SyncId};
use test_support::{Setup, Tenant, TestApp, read_id, read_url};
use uuid::Uuid;

use crate::accounts::refused_field;
use crate::search::workspace_search;

fn presign(filename: &str, size: u64) -> PresignRequest {
    PresignRequest { filename: filename.to_owned(), size, content_type: None, labels: None }
}

async fn names(world: &TestApp, tenant: &Tenant) -> Vec<String> {
    world.list_files(&tenant.viewer).await.unwrap().into_iter().map(|file| file.name).collect()
}

async fn found(world: &TestApp, tenant: &Tenant, query: &str) -> Vec<String> {
    let outcome = world.app.search(&tenant.viewer, workspace_search(tenant, query)).await.unwrap();
    outcome.hits.into_iter().map(|hit| hit.canonical_url).collect()
}

fn url(tenant: &Tenant, name: &str) -> String {
    format!("workspace://{}/{name}", tenant.organization_id)
}

mod presigning {
    use super::*;

    #[tokio::test]
    async fn a_name_is_sanitized() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        let presigned =
            world.app.presign_file(&tenant.viewer, presign("../../e\u{301}te\u{301}.txt", 7)).await.unwrap();
        assert_eq!((presigned.name.as_str(), presigned.expires_in_seconds), ("été.txt", 900));
        assert!(presigned.url.contains("?size=7&"), "{}", presigned.url);
        assert!(presigned.url.contains(&objects::key(tenant.organization_id, "été.txt")), "{}", presigned.url);
        let nameless = world.app.presign_file(&tenant.viewer, presign("...", 7)).await;
        assert_eq!(refused_field(nameless), "filename");
    }

    #[tokio::test]
    async fn only_supported_types_are_taken() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        for (name, expected) in [("a.exe", "exe"), ("a", ""), ("a.txt.zip", "zip")] {
            let error = world.app.presign_file(&tenant.viewer, presign(name, 1)).await.unwrap_err();
            assert!(
                matches!(&error, Error::UnsupportedFileType { extension, .. } if extension == expected),
                "{error:?}"
            );
        }
        world.app.presign_file(&tenant.viewer, presign("A.TXT", 1)).await.unwrap();
    }

    #[tokio::test]
    async fn a_file_may_have_the_maximum_size_and_no_more() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        let max = 1 << 20;
        assert_eq!(world.app.presign_file(&tenant.viewer, presign("a.txt", max)).await.unwrap().max_object_bytes, max);
        let error = world.app.presign_file(&tenant.viewer, presign("a.txt", max + 1)).await.unwrap_err();
        assert!(matches!(error, Error::FileTooLarge { max_object_bytes, .. } if max_object_bytes == max), "{error:?}");
    }

    #[tokio::test]
    async fn new_names_count_against_the_quota_and_replacements_do_not() {
        let mut setup = Setup::default();
        setup.options.max_files_per_organization = 2;
        let world = TestApp::with(setup).await;
        let (tenant, other) = (world.tenant().await, world.tenant().await);
        for name in ["a.txt", "b.txt", "a.txt"] {
            world.upload(&tenant, name, "A text.").await;
        }
        let third = world.app.presign_file(&tenant.viewer, presign("c.txt", 1)).await.unwrap_err();
        assert!(matches!(third, Error::QuotaExceeded(Quota::Files { used: 2, limit: 2 })), "{third:?}");
        world.app.presign_file(&other.viewer, presign("c.txt", 1)).await.unwrap();
        // A deleted file makes room.
        world.index_files(&tenant, RunMode::Incremental).await;
        assert!(world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap());
        world.index_files(&tenant, RunMode::Incremental).await;
        world.app.presign_file(&tenant.viewer, presign("c.txt", 1)).await.unwrap();
    }
}

mod listing {
    use super::*;

    #[tokio::test]
    async fn uploaded_files_are_listed_by_name() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        assert_eq!(names(&world, &tenant).await, Vec::<String>::new());
        for name in ["b.txt", "a.txt"] {
            world.upload(&tenant, name, "A text.").await;
        }
        // This upload never came.
        world.app.presign_file(&tenant.viewer, presign("c.txt", 1)).await.unwrap();
        let files = world.list_files(&tenant.viewer).await.unwrap();
        let listed: Vec<_> = files.iter().map(|file| (file.name.as_str(), file.size)).collect();
        assert_eq!(listed, [("a.txt", 7), ("b.txt", 7)]);
    }

    #[tokio::test]
    async fn failures_of_storage_are_told_apart() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        world.upload(&tenant, "a.txt", "A text.").await;
        world.blobs.fail(BlobErrorKind::Unavailable);
        let error = world.list_files(&tenant.viewer).await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { backend: "storage", .. }), "{error:?}");
        world.blobs.fail(BlobErrorKind::Denied);
        let error = world.list_files(&tenant.viewer).await.unwrap_err();
        assert!(matches!(error, Error::Internal(_)), "{error:?}");
        world.blobs.recover();
        assert_eq!(names(&world, &tenant).await, ["a.txt"]);
    }
}

mod runs {
    use super::*;

    #[tokio::test]
    async fn indexed_files_are_found_and_read() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        world.upload(&tenant, "notes.md", "# Tides\n\nThe moon raises them.").await;
        world.upload(&tenant, "other.txt", "Bread is baked.").await;
        let run = world.index_files(&tenant, RunMode::Incremental).await;
        assert_eq!((run.state, run.error), (RunState::Completed, None));
        assert!(run.started_at.unwrap() <= run.completed_at.unwrap());
        assert_eq!((run.stats.enumerated, run.stats.fetched, run.stats.indexed, run.stats.bytes), (2, 2, 2, 45));

        assert_eq!(found(&world, &tenant, "moon").await, [url(&tenant, "notes.md")]);
        let by_address = world.app.read_document(&tenant.viewer, read_url(&url(&tenant, "notes.md"))).await.unwrap();
        assert!(by_address.content.unwrap().text.contains("The moon raises them."));
        let by_id = world.app.read_document(&tenant.viewer, read_id(by_address.document.doc_id)).await.unwrap();
        assert_eq!(by_id.document.canonical_url, url(&tenant, "notes.md"));
    }

    #[tokio::test]
    async fn only_new_and_changed_files_are_read_again() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        for name in ["a.txt", "b.txt"] {
            world.upload(&tenant, name, "The tides.").await;
        }
        world.index_files(&tenant, RunMode::Incremental).await;
        let unchanged = world.index_files(&tenant, RunMode::Incremental).await.stats;
        assert_eq!(unchanged, RunStats { enumerated: 2, ..RunStats::default() });
        world.upload(&tenant, "a.txt", "The walrus.").await;
        assert_eq!(world.index_files(&tenant, RunMode::Incremental).await.stats.indexed, 1);
        assert_eq!(found(&world, &tenant, "walrus").await, [url(&tenant, "a.txt")]);
        assert_eq!(found(&world, &tenant, "tides").await, [url(&tenant, "b.txt")]);
        assert_eq!(world.index_files(&tenant, RunMode::Full).await.stats.indexed, 2);
    }

    #[tokio::test]
    async fn requests_join_the_run_that_waits() {
        let world = TestApp::start().await;
        let (tenant, other) = (world.tenant().await, world.tenant().await);
        let first = world.app.start_run(&tenant.viewer, RunMode::Incremental).await.unwrap();
        assert_eq!((first.state, first.started_at), (RunState::Queued, None));
        let second = world.app.start_run(&tenant.viewer, RunMode::Full).await.unwrap();
        assert_eq!(second.sync_id, first.sync_id);
        let elsewhere = world.app.start_run(&other.viewer, RunMode::Incremental).await.unwrap();
        assert_ne!(elsewhere.sync_id, first.sync_id);
        world.finish_run(&tenant, first.sync_id).await;
        let third = world.app.start_run(&tenant.viewer, RunMode::Incremental).await.unwrap();
        assert_ne!(third.sync_id, first.sync_id, "a completed run is not joined");
    }

    #[tokio::test]
    async fn a_deployment_without_an_index_starts_no_runs() {
        let world = TestApp::with(Setup { retrieval: false, ..Setup::default() }).await;
        let tenant = world.tenant().await;
        let error = world.app.start_run(&tenant.viewer, RunMode::Incremental).await.unwrap_err();
        assert!(matches!(error, Error::NoRetrieval), "{error:?}");
        assert!(!world.store.has_unfinished_run(tenant.organization_id).await.unwrap());
    }

    #[tokio::test]
    async fn a_run_that_does_not_exist_is_not_found() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        for sync_id in ["", "x", &Uuid::from_u128(1).to_string()] {
            let error = world.app.run_status(&tenant.viewer, sync_id).await.unwrap_err();
            assert!(matches!(error, Error::SyncNotFound), "{error:?}");
        }
    }
}

mod deletion {
    use super::*;

    async fn with_file() -> (TestApp, Tenant) {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        world.upload(&tenant, "notes.txt", "The tides.").await;
        world.index_files(&tenant, RunMode::Incremental).await;
        (world, tenant)
    }

    /// Asserts that the file answers nowhere.
    async fn check_gone(world: &TestApp, tenant: &Tenant) {
        assert_eq!(found(world, tenant, "tides").await, Vec::<String>::new());
        let read = world.app.read_document(&tenant.viewer, read_url(&url(tenant, "notes.txt"))).await;
        assert!(matches!(read, Err(Error::DocumentNotFound)), "{read:?}");
    }

    #[tokio::test]
    async fn a_deleted_file_is_gone_before_any_run() {
        let (world, tenant) = with_file().await;
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        check_gone(&world, &tenant).await;
        assert_eq!(names(&world, &tenant).await, Vec::<String>::new());
        let key = objects::key(tenant.organization_id, "notes.txt");
        assert!(world.blobs.inner.head(&key).await.unwrap().is_none());
        assert!(!world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap(), "there is nothing left");
    }

    #[tokio::test]
    async fn deletion_queues_a_run_that_removes_the_rest() {
        let (world, tenant) = with_file().await;
        world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap();
        let run = world.index_files(&tenant, RunMode::Incremental).await;
        assert_eq!((run.state, run.stats.deleted), (RunState::Completed, 1));
        check_gone(&world, &tenant).await;
        world.upload(&tenant, "notes.txt", "The tides once more.").await;
        world.index_files(&tenant, RunMode::Incremental).await;
        assert_eq!(found(&world, &tenant, "tides").await, [url(&tenant, "notes.txt")]);
    }

    #[tokio::test]
    async fn a_file_is_hidden_even_while_storage_is_away() {
        let (world, tenant) = with_file().await;
        world.blobs.fail(BlobErrorKind::Unavailable);
        let error = world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { backend: "storage", .. }), "{error:?}");
        check_gone(&world, &tenant).await;
        world.blobs.recover();
        assert_eq!(names(&world, &tenant).await, Vec::<String>::new());
        world.index_files(&tenant, RunMode::Incremental).await;
        let key = objects::key(tenant.organization_id, "notes.txt");
        assert!(world.blobs.inner.head(&key).await.unwrap().is_none(), "the run deletes the object");
    }

    #[tokio::test]
    async fn repeated_deletions_start_one_run() {
        let (world, tenant) = with_file().await;
        world.blobs.fail(BlobErrorKind::Unavailable);
        world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap_err();
        world.blobs.recover();
        // A worker has claimed the run of the first request.
        let now = world.clock.now();
        let run =
            world.store.claim_run("worker".to_owned(), now, now + Duration::from_secs(60)).await.unwrap().unwrap();
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        let another = world.store.claim_run("other".to_owned(), now, now + Duration::from_secs(60)).await.unwrap();
        assert!(another.is_none(), "{another:?}");
        world.store.finish_run(run.sync_id, "worker".to_owned(), None, now, webhooks::run_ended).await.unwrap();
        let another = world.store.claim_run("other".to_owned(), now, now + Duration::from_secs(60)).await.unwrap();
        assert!(another.is_none(), "{another:?}");
    }

    #[tokio::test]
    async fn a_deletion_after_a_failed_run_starts_another() {
        let (world, tenant) = with_file().await;
        world.blobs.fail(BlobErrorKind::Unavailable);
        world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap_err();
        world.blobs.recover();
        let now = world.clock.now();
        let run =
            world.store.claim_run("worker".to_owned(), now, now + Duration::from_secs(60)).await.unwrap().unwrap();
        world
            .store
            .finish_run(run.sync_id, "worker".to_owned(), Some("no storage".to_owned()), now, webhooks::run_ended)
            .await
            .unwrap();
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        let next = world.store.claim_run("worker".to_owned(), now, now + Duration::from_secs(60)).await.unwrap();
        assert!(next.is_some());
    }

    /// Returns a world with a file that no run has processed.
    async fn with_upload() -> (TestApp, Tenant) {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        world.upload(&tenant, "notes.txt", "The tides.").await;
        (world, tenant)
    }

    /// Ends the run in progress. Returns true if another one waits.
    async fn has_next_run(world: &TestApp, run: SyncId) -> bool {
        let now = world.clock.now();
        world.store.finish_run(run, "worker".to_owned(), None, now, webhooks::run_ended).await.unwrap();
        world.store.claim_run("worker".to_owned(), now, now + Duration::from_secs(60)).await.unwrap().is_some()
    }

    async fn run_in_progress(world: &TestApp, tenant: &Tenant) -> SyncId {
        let run = world.app.start_run(&tenant.viewer, RunMode::Incremental).await.unwrap();
        let now = world.clock.now();
        world.store.claim_run("worker".to_owned(), now, now + Duration::from_secs(60)).await.unwrap().unwrap();
        run.sync_id
    }

    /// The client may leave, or the server stop, before the object is deleted.
    #[tokio::test]
    async fn interrupted_deletion_of_a_new_file_is_completed_by_a_run() {
        let (world, tenant) = with_upload().await;
        world.blobs.fail(BlobErrorKind::Unavailable);
        world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap_err();
        assert!(world.store.has_unfinished_run(tenant.organization_id).await.unwrap());
        world.blobs.recover();
        world.index_files(&tenant, RunMode::Incremental).await;
        let key = objects::key(tenant.organization_id, "notes.txt");
        assert!(world.blobs.inner.head(&key).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_file_whose_object_a_run_deletes_first_was_deleted() {
        let (world, tenant) = with_upload().await;
        let (blobs, key) = (Arc::clone(&world.blobs), objects::key(tenant.organization_id, "notes.txt"));
        world.blobs.after_head(key.clone(), 1, async move { blobs.inner.delete(&key).await.unwrap() });
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        assert!(!world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap(), "there is nothing left");
    }

    #[tokio::test]
    async fn repeated_deletion_during_a_run_has_a_run_of_its_own() {
        let (world, tenant) = with_upload().await;
        let run = run_in_progress(&world, &tenant).await;
        world.blobs.fail(BlobErrorKind::Unavailable);
        world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap_err();
        world.blobs.recover();
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        assert!(has_next_run(&world, run).await);
    }

    #[tokio::test]
    async fn concurrent_deletions_during_a_run_have_a_run_of_their_own() {
        let (world, tenant) = with_upload().await;
        let run = run_in_progress(&world, &tenant).await;
        let delete = || world.app.delete_file(&tenant.viewer, "notes.txt");
        let (one, other) = tokio::join!(delete(), delete());
        assert!(one.unwrap() || other.unwrap());
        assert!(has_next_run(&world, run).await);
    }

    /// Storage may be slow, and the owner quick.
    #[tokio::test]
    async fn upload_while_a_deletion_looks_for_the_object_stays() {
        let (world, tenant) = with_file().await;
        let key = objects::key(tenant.organization_id, "notes.txt");
        let (service, viewer) = (Arc::clone(&world.app), tenant.viewer.clone());
        let (blobs, uploaded) = (Arc::clone(&world.blobs), key.clone());
        let again = async move {
            let text = "The tides once more.";
            service.presign_file(&viewer, presign("notes.txt", text.len() as u64)).await.unwrap();
            blobs.inner.put(&uploaded, text.into()).await.unwrap();
        };
        world.blobs.after_head(key.clone(), 2, again);
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        let kept = world.blobs.inner.head(&key).await.unwrap();
        assert_eq!(kept.map(|object| object.size), Some(20));
        world.index_files(&tenant, RunMode::Incremental).await;
        assert_eq!(found(&world, &tenant, "tides").await, [url(&tenant, "notes.txt")]);
    }

    #[tokio::test]
    async fn upload_after_a_failed_attempt_to_delete_stays() {
        let (world, tenant) = with_file().await;
        let key = objects::key(tenant.organization_id, "notes.txt");
        world.blobs.replace_at_deletion(key.clone());
        let error = world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { backend: "storage", .. }), "{error:?}");
        let kept = world.blobs.inner.head(&key).await.unwrap();
        assert_eq!(kept.map(|object| object.size), Some(14));
        assert!(world.store.has_unfinished_run(tenant.organization_id).await.unwrap());
    }

    #[tokio::test]
    async fn a_file_is_deleted_also_if_the_clock_of_storage_is_ahead() {
        let (world, tenant) = with_file().await;
        world.clock.set_back(Duration::from_secs(5));
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        assert_eq!(names(&world, &tenant).await, Vec::<String>::new());
        let key = objects::key(tenant.organization_id, "notes.txt");
        assert!(world.blobs.inner.head(&key).await.unwrap().is_none());
    }

    /// Deletes the file, then stores it without another URL, in the same second but later. A run follows.
    async fn delete_and_upload(world: &TestApp, tenant: &Tenant) {
        world.app.presign_file(&tenant.viewer, presign("notes.txt", 10)).await.unwrap();
        world.clock.set_back(Duration::from_millis(10));
        world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap();
        world.put_object(tenant, "notes.txt", "The tides.").await;
        world.index_files(tenant, RunMode::Incremental).await;
    }

    /// Asserts that the file answers everywhere.
    async fn check_stays(world: &TestApp, tenant: &Tenant) {
        assert_eq!(found(world, tenant, "tides").await, [url(tenant, "notes.txt")]);
        assert_eq!(names(world, tenant).await, ["notes.txt"]);
        let page = PageRequest { cursor: None, limit: 10 };
        let page = world.app.list_files_page(&tenant.viewer, page).await.unwrap().files;
        assert_eq!(page.into_iter().map(|file| file.name).collect::<Vec<_>>(), ["notes.txt"]);
        let file = world.app.find_file(&tenant.viewer, "notes.txt").await.unwrap();
        assert_eq!(file.status, FileStatus::Indexed);
        world.app.download_file(&tenant.viewer, "notes.txt").await.unwrap();
    }

    #[tokio::test]
    async fn first_upload_in_the_second_of_a_deletion_stays() {
        for rounds_list in [false, true] {
            let world = TestApp::start().await;
            let tenant = world.tenant().await;
            world.blobs.rounds_head.store(true, Ordering::Relaxed);
            world.blobs.rounds_list.store(rounds_list, Ordering::Relaxed);
            delete_and_upload(&world, &tenant).await;
            check_stays(&world, &tenant).await;
        }
    }

    #[tokio::test]
    async fn same_content_in_the_second_of_its_deletion_stays() {
        let (world, tenant) = with_file().await;
        world.blobs.rounds_head.store(true, Ordering::Relaxed);
        delete_and_upload(&world, &tenant).await;
        check_stays(&world, &tenant).await;
        assert!(world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap());
        check_gone(&world, &tenant).await;
        assert_eq!(names(&world, &tenant).await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn other_content_in_the_second_of_a_failed_deletion_stays() {
        let (world, tenant) = with_file().await;
        let key = objects::key(tenant.organization_id, "notes.txt");
        for rounds in [&world.blobs.rounds_head, &world.blobs.rounds_list] {
            rounds.store(true, Ordering::Relaxed);
        }
        world.blobs.replace_at_deletion(key.clone());
        world.app.delete_file(&tenant.viewer, "notes.txt").await.unwrap_err();
        world.index_files(&tenant, RunMode::Incremental).await;
        let kept = world.blobs.inner.head(&key).await.unwrap();
        assert_eq!(kept.map(|object| object.size), Some(14));
        world.app.find_file(&tenant.viewer, "notes.txt").await.unwrap();
    }

    #[tokio::test]
    async fn an_unknown_name_deletes_nothing() {
        let (world, tenant) = with_file().await;
        assert!(!world.app.delete_file(&tenant.viewer, "other.txt").await.unwrap());
        assert_eq!(names(&world, &tenant).await, ["notes.txt"]);
    }
}

mod storing {
    use super::*;

    #[tokio::test]
    async fn stored_text_is_found_after_its_run() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        let store =
            |name: &str, text: &str| world.app.store_file(&tenant.viewer, name.to_owned(), text.as_bytes().to_vec());
        let stored = store("../lamp.md", "# Lamp\n\nThe lamp turns.").await.unwrap();
        assert_eq!(stored.name, "lamp.md");
        world.finish_run(&tenant, stored.run.sync_id).await;
        assert_eq!(found(&world, &tenant, "lamp").await, [url(&tenant, "lamp.md")]);
        let replaced = store("lamp.md", "# Beacon\n\nThe beacon blinks.").await.unwrap();
        world.finish_run(&tenant, replaced.run.sync_id).await;
        assert_eq!(found(&world, &tenant, "beacon").await, [url(&tenant, "lamp.md")]);
        assert_eq!(names(&world, &tenant).await, ["lamp.md"]);
        assert!(matches!(store("lamp.exe", "x").await, Err(Error::UnsupportedFileType { .. })));
    }

    #[tokio::test]
    async fn a_name_has_at_most_512_characters() {
        let world = TestApp::start().await;
        let tenant = world.tenant().await;
        let store = |name: String| world.app.store_file(&tenant.viewer, name, b"x".to_vec());
        // Sanitized, the last two would be short.
        let (dots, spaces) = (".".repeat(512), " ".repeat(512));
        for name in [String::new(), "a".repeat(10_000) + ".md", dots + "a.md", format!("a.md{spaces}")] {
            assert_eq!(refused_field(store(name.clone()).await), "filename");
            assert_eq!(refused_field(world.app.presign_file(&tenant.viewer, presign(&name, 1)).await), "filename");
        }
        assert!(names(&world, &tenant).await.is_empty());
        let longest = "😀".repeat(508) + ".txt";
        assert_eq!(store(longest.clone()).await.unwrap().name, longest);
    }

    #[tokio::test]
    async fn nothing_is_stored_without_an_index() {
        let world = TestApp::with(Setup { retrieval: false, ..Setup::default() }).await;
        let tenant = world.tenant().await;
        let refused = world.app.store_file(&tenant.viewer, "a.md".to_owned(), b"x".to_vec()).await;
        assert!(matches!(refused, Err(Error::NoRetrieval)));
        assert!(names(&world, &tenant).await.is_empty());
    }
}

#[tokio::test]
async fn a_file_with_a_title_is_found_by_its_name() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.upload(&tenant, "INV-2024-0117-acme.md", "# Invoice\n\nThirty valves.").await;
    world.upload(&tenant, "other.md", "# Orders of 2024\n\nTen valves.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    assert_eq!(found(&world, &tenant, "INV-2024-0117").await[0], url(&tenant, "INV-2024-0117-acme.md"));
}
