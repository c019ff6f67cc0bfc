//! State, paging, downloads, labels and outcomes of files.

use app::Error;
use app::files::{FileView, PageRequest, PresignRequest};
use app::search::SearchRequest;
use blobs::BlobErrorKind;
use model::{FileStatus, IndexName, RunMode};
use test_support::{Tenant, TestApp, page};
use uuid::Uuid;

use crate::accounts::refused_field;
use crate::search::{urls, workspace_search};

fn labelled(filename: &str, body: &str, labels: &[&str]) -> PresignRequest {
    let labels = Some(labels.iter().map(|label| (*label).to_owned()).collect());
    PresignRequest { filename: filename.to_owned(), size: body.len() as u64, content_type: None, labels }
}

async fn find(world: &TestApp, tenant: &Tenant, name: &str) -> FileView {
    world.app.find_file(&tenant.viewer, name).await.unwrap()
}

/// Names in pages of `limit`.
async fn paged(world: &TestApp, tenant: &Tenant, limit: usize) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), None);
    loop {
        let page = world.app.list_files_page(&tenant.viewer, PageRequest { cursor, limit }).await.unwrap();
        assert!(page.files.len() <= limit);
        names.extend(page.files.into_iter().map(|file| file.name));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return names;
        }
    }
}

#[tokio::test]
async fn a_file_is_pending_until_its_last_upload_is_indexed() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    for (name, body) in [("a.txt", "A text."), ("broken.pdf", "This is no PDF.")] {
        world.upload(&tenant, name, body).await;
        let file = find(&world, &tenant, name).await;
        assert_eq!((file.status, file.reason, file.indexed_at), (FileStatus::Pending, None, None));
    }
    world.index_files(&tenant, RunMode::Incremental).await;
    let indexed = find(&world, &tenant, "a.txt").await;
    assert_eq!((indexed.status, indexed.reason), (FileStatus::Indexed, None));
    assert!(indexed.indexed_at.is_some());
    let read = world.app.read_document(&tenant.viewer, test_support::read_url(&url(&tenant, "a.txt"))).await.unwrap();
    assert_eq!(read.document.doc_id, indexed.doc_id);
    let broken = find(&world, &tenant, "broken.pdf").await;
    assert_eq!((broken.status, broken.indexed_at), (FileStatus::Failed, None));
    assert!(broken.reason.unwrap().starts_with("wrong_type: "));

    world.upload(&tenant, "a.txt", "Another text.").await;
    let again = find(&world, &tenant, "a.txt").await;
    assert_eq!((again.status, again.indexed_at), (FileStatus::Pending, indexed.indexed_at));
    world.upload(&tenant, "a.txt", "A text.").await;
    // The content that is indexed: no run reads it again.
    assert_eq!(find(&world, &tenant, "a.txt").await.status, FileStatus::Indexed);
    world.upload(&tenant, "broken.pdf", "Still no PDF at all.").await;
    let broken = find(&world, &tenant, "broken.pdf").await;
    assert_eq!((broken.status, broken.reason), (FileStatus::Pending, None));
}

#[tokio::test]
async fn the_time_of_an_upload_is_the_same_everywhere() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    // Storage has exact times.
    for name in ["a.txt", "b.txt", "c.txt"] {
        world.upload(&tenant, name, "A text.").await;
    }
    let listed = world.list_files(&tenant.viewer).await.unwrap();
    let page = PageRequest { cursor: None, limit: 10 };
    let paged = world.app.list_files_page(&tenant.viewer, page).await.unwrap().files;
    assert_eq!((listed.len(), paged.len()), (3, 3));
    for (listed, paged) in listed.iter().zip(&paged) {
        let found = find(&world, &tenant, &listed.name).await;
        assert_eq!((listed.last_modified, paged.last_modified), (found.last_modified, found.last_modified));
        assert_eq!(found.last_modified.nanosecond(), 0);
    }
}

fn url(tenant: &Tenant, name: &str) -> String {
    format!("workspace://{}/{name}", tenant.organization_id)
}

#[tokio::test]
async fn pages_are_the_list_in_parts() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    for name in ["b.txt", "a.txt", "Z.txt", "é.txt", "日本.txt", "c c.txt", "d.txt"] {
        world.upload(&tenant, name, "A text.").await;
    }
    world.upload(&other, "b2.txt", "A text.").await;
    // Neither an upload that never came nor a deleted file is listed.
    world.app.presign_file(&tenant.viewer, labelled("a2.txt", "x", &[])).await.unwrap();
    world.app.delete_file(&tenant.viewer, "d.txt").await.unwrap();
    let all = world.list_files(&tenant.viewer).await.unwrap();
    let all: Vec<String> = all.into_iter().map(|file| file.name).collect();
    assert_eq!(all, ["Z.txt", "a.txt", "b.txt", "c c.txt", "é.txt", "日本.txt"]);
    for limit in [1, 2, 3, 6, 100] {
        assert_eq!(paged(&world, &tenant, limit).await, all, "{limit}");
    }
}

#[tokio::test]
async fn uploads_that_never_came_leave_no_page_empty_before_the_last() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    for name in ["a1.txt", "a2.txt", "a3.txt", "a4.txt", "a5.txt", "c1.txt", "c2.txt"] {
        world.app.presign_file(&tenant.viewer, labelled(name, "x", &[])).await.unwrap();
    }
    world.upload(&tenant, "b.txt", "A text.").await;
    for limit in [1, 2, 3] {
        let first = world.app.list_files_page(&tenant.viewer, PageRequest { cursor: None, limit }).await.unwrap();
        let names: Vec<_> = first.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names, first.next_cursor.is_some()), (vec!["b.txt"], true), "{limit}");
        let rest = PageRequest { cursor: first.next_cursor, limit };
        let rest = world.app.list_files_page(&tenant.viewer, rest).await.unwrap();
        assert!(rest.files.is_empty() && rest.next_cursor.is_none(), "{limit}");
    }
}

#[tokio::test]
async fn a_page_ends_after_many_uploads_that_never_came() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    for number in 10..22 {
        world.app.presign_file(&tenant.viewer, labelled(&format!("a{number}.txt"), "x", &[])).await.unwrap();
    }
    world.upload(&tenant, "b.txt", "A text.").await;
    let first = world.app.list_files_page(&tenant.viewer, PageRequest { cursor: None, limit: 1 }).await.unwrap();
    assert!(first.files.is_empty() && first.next_cursor.is_some());
    assert_eq!(paged(&world, &tenant, 1).await, ["b.txt"]);
}

#[tokio::test]
async fn pages_are_stable_while_files_change() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    for name in ["a.txt", "c.txt", "e.txt", "g.txt"] {
        world.upload(&tenant, name, "A text.").await;
    }
    let first = world.app.list_files_page(&tenant.viewer, PageRequest { cursor: None, limit: 2 }).await.unwrap();
    // The last file of the page is deleted, one is added before it and one behind it.
    world.app.delete_file(&tenant.viewer, "c.txt").await.unwrap();
    for name in ["b.txt", "f.txt"] {
        world.upload(&tenant, name, "A text.").await;
    }
    let rest = PageRequest { cursor: first.next_cursor, limit: 10 };
    let rest = world.app.list_files_page(&tenant.viewer, rest).await.unwrap();
    let names: Vec<_> = rest.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["e.txt", "f.txt", "g.txt"]);
    assert!(rest.next_cursor.is_none());
}

#[tokio::test]
async fn invalid_cursors_are_refused() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    for cursor in ["x", "a.txt", "ZmEudHh0", "😀"] {
        let page = PageRequest { cursor: Some(cursor.to_owned()), limit: 2 };
        assert_eq!(refused_field(world.app.list_files_page(&tenant.viewer, page).await), "cursor");
    }
}

#[tokio::test]
async fn a_download_is_of_the_own_file() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    world.upload(&tenant, "a.html", "<p>A text.</p>").await;
    let download = world.app.download_file(&tenant.viewer, "a.html").await.unwrap();
    assert_eq!(download.expires_in_seconds, 900);
    assert!(download.url.ends_with("&type=application/octet-stream"), "{}", download.url);
    for (viewer, name) in [(&other.viewer, "a.html"), (&tenant.viewer, "b.html"), (&tenant.viewer, "")] {
        assert!(matches!(world.app.find_file(viewer, name).await, Err(Error::FileNotFound)), "{name}");
        assert!(matches!(world.app.download_file(viewer, name).await, Err(Error::FileNotFound)), "{name}");
    }
    // Presigned, but never uploaded; and deleted.
    world.app.presign_file(&tenant.viewer, labelled("c.txt", "x", &[])).await.unwrap();
    world.app.delete_file(&tenant.viewer, "a.html").await.unwrap();
    for name in ["a.html", "c.txt"] {
        assert!(matches!(world.app.download_file(&tenant.viewer, name).await, Err(Error::FileNotFound)), "{name}");
    }
    world.blobs.fail(BlobErrorKind::Unavailable);
    assert!(matches!(world.app.find_file(&tenant.viewer, "c.txt").await, Err(Error::Unavailable { .. })));
}

#[tokio::test]
async fn outcomes_of_a_run_are_listed_in_pages() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    for (name, body) in [("b.pdf", "No PDF."), ("a.txt", "A text."), ("c.txt", "Another text.")] {
        world.upload(&tenant, name, body).await;
    }
    let run = world.index_files(&tenant, RunMode::Incremental).await;
    let later = world.index_files(&tenant, RunMode::Incremental).await;
    let list = async |sync_id: &str, cursor, limit| {
        world.app.list_outcomes(&tenant.viewer, sync_id, PageRequest { cursor, limit }).await
    };
    let sync_id = run.sync_id.to_string();
    let first = list(&sync_id, None, 2).await.unwrap();
    let last = list(&sync_id, first.next_cursor.clone(), 2).await.unwrap();
    let outcomes: Vec<_> =
        first.files.iter().chain(&last.files).map(|file| (file.name.as_str(), file.status)).collect();
    assert_eq!(
        outcomes,
        [("a.txt", FileStatus::Indexed), ("b.pdf", FileStatus::Failed), ("c.txt", FileStatus::Indexed)]
    );
    assert!(first.files[1].reason.as_deref().unwrap().starts_with("wrong_type: "));
    assert_eq!(first.files[0].doc_id, find(&world, &tenant, "a.txt").await.doc_id);
    assert!(last.next_cursor.is_none());
    assert!(list(&later.sync_id.to_string(), None, 9).await.unwrap().files.is_empty(), "nothing has changed");
    // A cursor of the other list.
    let files = world.app.list_files_page(&tenant.viewer, PageRequest { cursor: None, limit: 1 }).await.unwrap();
    assert_eq!(refused_field(list(&sync_id, files.next_cursor, 2).await), "cursor");
    for id in ["x", &Uuid::new_v4().to_string()] {
        assert!(matches!(list(id, None, 2).await, Err(Error::SyncNotFound)));
    }
    let page = PageRequest { cursor: None, limit: 2 };
    assert!(matches!(world.app.list_outcomes(&other.viewer, &sync_id, page).await, Err(Error::SyncNotFound)));
}

#[tokio::test]
async fn another_name_of_the_same_file_is_named() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let presign = async |name: &str| {
        world.app.presign_file(&tenant.viewer, labelled(name, "A text.", &[])).await.unwrap().replaces
    };
    world.upload(&tenant, "a/b.txt", "A text.").await;
    assert_eq!(presign("a/b.txt").await, None);
    assert_eq!(presign("ab.txt").await.as_deref(), Some("a/b.txt"));
    let stored = world.app.store_file(&tenant.viewer, "/ab.txt".to_owned(), b"x".to_vec()).await.unwrap();
    assert_eq!(stored.replaces.as_deref(), Some("ab.txt"));
    world.app.delete_file(&tenant.viewer, "ab.txt").await.unwrap();
    assert_eq!(presign("ab.txt").await, None, "nothing is left to replace");
    // Once the URL of an upload that never came has expired, it cannot come any more.
    world.clock.advance(std::time::Duration::from_secs(901));
    assert_eq!(presign("a/b.txt").await, None);
}

/// Names of the files that a search for `text` with these labels finds.
async fn found(world: &TestApp, tenant: &Tenant, labels: &[&str]) -> Vec<String> {
    let labels = labels.iter().map(|label| (*label).to_owned()).collect();
    let request = SearchRequest { labels, ..workspace_search(tenant, "text") };
    let outcome = world.app.search(&tenant.viewer, request).await.unwrap();
    let prefix = url(tenant, "");
    let mut names: Vec<_> = urls(&outcome).iter().map(|url| url.strip_prefix(&prefix).unwrap().to_owned()).collect();
    names.sort();
    names
}

async fn upload(world: &TestApp, tenant: &Tenant, name: &str, body: &str, labels: &[&str]) {
    world.app.presign_file(&tenant.viewer, labelled(name, body, labels)).await.unwrap();
    // Keeps the labels.
    world.upload(tenant, name, body).await;
}

#[tokio::test]
async fn searches_filter_by_label() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    world.import([page("https://a.example/", "A text about labels.")]).await;
    upload(&world, &tenant, "a.txt", "A first text.", &["Finance", "2026"]).await;
    upload(&world, &tenant, "b.txt", "A second text.", &["legal"]).await;
    upload(&world, &tenant, "c.txt", "A third text.", &[]).await;
    upload(&world, &other, "d.txt", "A fourth text.", &["finance"]).await;
    for tenant in [&tenant, &other] {
        world.index_files(tenant, RunMode::Incremental).await;
    }
    for (labels, names) in [
        (&["finance"][..], &["a.txt"][..]),
        (&["FINANCE", "legal"], &["a.txt", "b.txt"]),
        (&["2026"], &["a.txt"]),
        (&["financ"], &[]),
        (&["kind:txt"], &["a.txt", "b.txt", "c.txt"]),
        (&[], &["a.txt", "b.txt", "c.txt"]),
    ] {
        assert_eq!(found(&world, &tenant, labels).await, names, "{labels:?}");
    }
    assert_eq!(found(&world, &other, &["finance"]).await, ["d.txt"]);
    // Web pages have no labels.
    let both = SearchRequest {
        indexes: IndexName::ALL.to_vec(),
        labels: vec!["legal".to_owned()],
        ..workspace_search(&tenant, "text")
    };
    let outcome = world.app.search(&tenant.viewer, both).await.unwrap();
    assert_eq!(urls(&outcome), [url(&tenant, "b.txt")]);
    assert!(outcome.empty_indexes.is_empty());
    assert_eq!(outcome.hits[0].labels, ["kind:txt", "legal"]);
}

#[tokio::test]
async fn changed_labels_apply_without_another_upload() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    upload(&world, &tenant, "a.txt", "A text.", &["draft"]).await;
    world.index_files(&tenant, RunMode::Incremental).await;
    assert_eq!(found(&world, &tenant, &["draft"]).await, ["a.txt"]);
    world.app.presign_file(&tenant.viewer, labelled("a.txt", "A text.", &["final"])).await.unwrap();
    let file = find(&world, &tenant, "a.txt").await;
    assert_eq!((file.labels, file.status), (vec!["final".to_owned()], FileStatus::Indexed));
    // The run waits for the index.
    world.index_files(&tenant, RunMode::Incremental).await;
    assert!(found(&world, &tenant, &["draft"]).await.is_empty());
    assert_eq!(found(&world, &tenant, &["final"]).await, ["a.txt"]);
    // Reindexing keeps them; deletion does not.
    world.index_files(&tenant, RunMode::Full).await;
    assert_eq!(found(&world, &tenant, &["final"]).await, ["a.txt"]);
    world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap();
    world.index_files(&tenant, RunMode::Incremental).await;
    world.upload(&tenant, "a.txt", "A text.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    assert!(found(&world, &tenant, &["final"]).await.is_empty());
    assert_eq!(found(&world, &tenant, &["kind:txt"]).await, ["a.txt"]);
    assert!(find(&world, &tenant, "a.txt").await.labels.is_empty());
}

#[tokio::test]
async fn labels_are_normalized_and_checked() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let presign = async |labels: &[&str]| {
        world.app.presign_file(&tenant.viewer, labelled("a.txt", "A text.", labels)).await.map(|_| ())
    };
    presign(&[" Q3 ", "e\u{301}te\u{301}", "été", "q3", "Q4"]).await.unwrap();
    world.upload(&tenant, "a.txt", "A text.").await;
    assert_eq!(find(&world, &tenant, "a.txt").await.labels, ["Q3", "été", "Q4"]);
    assert_eq!(refused_field(presign(&["fine", " "]).await), "labels[1]");
    assert_eq!(refused_field(presign(&["a\nb"]).await), "labels[0]");
    assert_eq!(refused_field(presign(&["x"; 21]).await), "labels");
    assert_eq!(find(&world, &tenant, "a.txt").await.labels.len(), 3, "a refused request changes nothing");
}
