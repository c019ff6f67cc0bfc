//! Indexes that SQLite uses for frequent operations.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use diesel::QueryableByName;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use model::{CrawlId, CrawlUrlKind, CrawlUrlState, IndexName};
use uuid::Uuid;

use crate::backend::sqlite::queries;
use crate::crawls::{CrawlLimits, NewCrawlUrl};
use crate::documents::NewDocument;
use crate::parts::{NewParts, WantedParts, divide_at};
use crate::query_counts::{DOCUMENT, NOW, Observed, listed_page, reading};
use crate::rows::{Crawl, Passage};

/// Line of a query plan (https://sqlite.org/eqp.html).
#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// Returns the steps of the plans of all queries, updates and deletions since the last call.
async fn plans(db: &mut Observed) -> Vec<String> {
    let mut steps = Vec::new();
    for statement in db.statements() {
        let statement = statement.split(" -- binds").next().unwrap_or_default();
        if ["SELECT", "WITH", "UPDATE", "DELETE"].iter().any(|word| statement.starts_with(word)) {
            let plan = diesel::sql_query(format!("EXPLAIN QUERY PLAN {statement}"));
            let rows: Vec<Step> = plan.load(&mut db.connection).await.unwrap();
            steps.extend(rows.into_iter().map(|step| step.detail));
        }
    }
    db.statements();
    steps
}

/// Divides a new content of three passages into parts of one passage each.
fn divided(mut new: NewDocument) -> NewDocument {
    let content = "x".repeat(60);
    let passage = |ordinal: i32| {
        let (start, end) = (20 * ordinal, 20 * ordinal + 20);
        Passage {
            ordinal,
            byte_start: start,
            byte_end: end,
            char_start: start,
            char_end: end,
            ..new.passages[0].clone()
        }
    };
    new.passages = (0..3).map(passage).collect();
    let map = divide_at(&content, &new.passages, 1, 20, 20).unwrap();
    new.capture.content = content[..map.start(1).byte].to_owned();
    new.capture.parts = Some(map);
    new.parts = Some(NewParts { content: Arc::new(content), terms: Arc::new(vec![vec![1]]) });
    new
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn captures_are_found_by_their_ids_or_documents() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = db.organization_id;
    let page = divided(listed_page("shared"));
    let (capture_id, passage_id) = (page.capture.capture_id, page.passages[0].passage_id);
    queries::captures::save_documents(&mut db.connection, vec![page], NOW).await.unwrap();
    let wanted = vec![WantedParts { capture_id, parts: vec![0, 1] }];
    let parts = queries::parts::load_parts(&mut db.connection, organization_id, wanted).await.unwrap();
    assert_eq!(parts.len(), 2);
    let wanted = vec![(capture_id, vec![0])];
    let terms = queries::parts::load_terms(&mut db.connection, organization_id, wanted).await.unwrap();
    assert_eq!(terms.len(), 1);
    let wanted = vec![passage_id];
    let found = queries::parts::find_passages(&mut db.connection, organization_id, capture_id, wanted).await.unwrap();
    assert!(!found.is_empty());
    let model = || "model".to_owned();
    queries::vectors::load_vectors(&mut db.connection, organization_id, vec![capture_id], model()).await.unwrap();
    queries::vectors::find_reusable_vectors(&mut db.connection, capture_id, model()).await.unwrap();
    let capture_ids = vec![capture_id];
    queries::evidence::keep_as_evidence(&mut db.connection, organization_id, capture_ids, NOW).await.unwrap();
    for content in ["first", "second"] {
        queries::page_reads::save_page_read(&mut db.connection, reading(organization_id, content)).await.unwrap();
    }
    queries::page_reads::load_page_reads(&mut db.connection, organization_id, vec![DOCUMENT]).await.unwrap();
    queries::page_reads::delete_page_reads(&mut db.connection, organization_id, vec![DOCUMENT]).await.unwrap();
    queries::web_pages::remove_web_pages(&mut db.connection, vec![DOCUMENT], NOW, None).await.unwrap();
    let mut restored = listed_page("restored");
    restored.capture.captured_at = NOW + Duration::from_secs(1);
    queries::captures::save_documents(&mut db.connection, vec![restored], NOW).await.unwrap();

    let steps = plans(&mut db).await;
    let reads = |step: &&String| step.starts_with("SEARCH captures ") || step.starts_with("SCAN captures");
    let captures: Vec<&String> = steps.iter().filter(reads).collect();
    assert!(captures.len() > 12, "{steps:#?}");
    for step in captures {
        assert!(step.contains("(capture_id=?") || step.contains("(doc_id=?"), "{step}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_one_organization_are_not_all_read_to_find_some() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = db.organization_id;
    db.statements();
    queries::runs::has_unfinished_run(&mut db.connection, organization_id).await.unwrap();
    let steps = plans(&mut db).await;
    assert!(steps.iter().any(|step| step.ends_with("(organization_id=? AND state=?)")), "{steps:#?}");
    queries::storage_totals::list_expired_uploads(&mut db.connection, Some(organization_id), NOW, 1).await.unwrap();
    let steps = plans(&mut db).await;
    assert!(steps.iter().any(|step| step.contains("(organization_id=? AND upload_expires_at<?)")), "{steps:#?}");
    queries::deleted_files::forget_processing(&mut db.connection, organization_id, &[DOCUMENT]).await.unwrap();
    let steps = plans(&mut db).await;
    assert!(steps.iter().any(|step| step.contains("(organization_id=? AND doc_id=?)")), "{steps:#?}");
    let connection = &mut db.connection;
    queries::balances::find_unrecorded_searches(connection, organization_id, NOW, NOW).await.unwrap();
    let steps = plans(&mut db).await;
    let expected = "(organization_id=? AND created_at>? AND created_at<?)";
    assert!(steps.iter().any(|step| step.ends_with(expected)), "{steps:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_pages_and_ended_runs_are_found_by_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    db.statements();
    queries::retention::prune_removed_pages(&mut db.connection, NOW, NOW, 1).await.unwrap();
    queries::retention::prune_runs(&mut db.connection, NOW, 1).await.unwrap();
    let steps = plans(&mut db).await;
    for expected in ["removed_web_pages (organization_id=? AND removed_at<?)", "ended_index_runs (completed_at<?)"] {
        assert!(steps.iter().any(|step| step.ends_with(expected)), "{expected}: {steps:#?}");
    }
}

const CRAWL: CrawlId = CrawlId(Uuid::from_u128(1));

/// Starts a crawl that may list no page, with one seed.
async fn start_crawl(db: &mut Observed) {
    let crawl = Crawl::new(CRAWL, "a crawl".to_owned(), "{}".to_owned(), 10, NOW);
    let crawl = Crawl { page_limit: Some(0), ..crawl };
    let seed = NewCrawlUrl {
        url_id: DOCUMENT,
        url: "https://example.com/".to_owned(),
        host: "example.com".to_owned(),
        kind: CrawlUrlKind::Page,
        depth: 0,
        priority: 10,
        chain: 0,
        path_key: None,
        modified_at: None,
        is_seed: true,
    };
    let limits = CrawlLimits {
        queries_per_path: 1,
        same_content: 1,
        shortest_interval: Duration::ZERO,
        is_depth_bounded: false,
    };
    queries::crawls::start_crawl(&mut db.connection, crawl, vec![seed], limits, NOW, None).await.unwrap();
    db.statements();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn due_urls_of_a_host_are_found_by_their_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    start_crawl(&mut db).await;
    let host = "example.com".to_owned();
    let due = queries::crawl_hosts::next_crawl_urls(&mut db.connection, host, None, NOW, 1).await.unwrap();
    assert_eq!(due.len(), 1);
    let steps = plans(&mut db).await;
    for expected in ["next_fetch_at>? AND next_fetch_at<?)", "next_fetch_at<?)"] {
        let expected = format!("crawl_urls_due (crawl_id=? AND host=? AND {expected}");
        assert!(steps.iter().any(|step| step.ends_with(&expected)), "{expected}: {steps:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crawls_that_list_a_page_are_found_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    start_crawl(&mut db).await;
    let other = CrawlId(Uuid::from_u128(2));
    queries::crawl_claims::list_claims(&mut db.connection, other, DOCUMENT).await.unwrap();
    let steps = plans(&mut db).await;
    assert!(steps.iter().any(|step| step.ends_with("crawl_urls_of_document (url_id=?)")), "{steps:#?}");
    assert!(steps.iter().all(|step| !step.starts_with("SCAN")), "{steps:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_wait_for_another_are_found_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    start_crawl(&mut db).await;
    let connection = &mut db.connection;
    let mut crawl = queries::crawl_locks::lock_crawl(connection, CRAWL).await.unwrap().unwrap();
    let url = queries::crawl_urls::find_url(connection, CRAWL, DOCUMENT).await.unwrap().unwrap();
    queries::crawl_targets::queue_waiting(connection, &mut crawl, &url, CrawlUrlState::Skipped).await.unwrap();
    let steps = plans(&mut db).await;
    let expected = "crawl_urls_by_target (crawl_id=? AND target_id=?)";
    assert!(steps.iter().any(|step| step.ends_with(expected)), "{steps:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upkeep_of_crawls_reads_the_urls_that_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    start_crawl(&mut db).await;
    queries::crawl_upkeep::requeue_crawl(&mut db.connection, CRAWL, Some(DOCUMENT), 1, NOW).await.unwrap();
    let steps = plans(&mut db).await;
    assert!(steps.iter().any(|step| step.ends_with("(crawl_id=? AND url_id>?)")), "{steps:#?}");
    for (host, expected) in [
        (Some("another.example".to_owned()), "crawl_urls_due (crawl_id=? AND host=? AND next_fetch_at>?)"),
        (None, "crawl_urls_queued (crawl_id=? AND state=?)"),
    ] {
        let outcome = (CrawlUrlState::Failed, "a reason".to_owned());
        let connection = &mut db.connection;
        queries::crawl_upkeep::settle_queued(connection, CRAWL, host, outcome, None, 1, NOW).await.unwrap();
        let steps = plans(&mut db).await;
        assert!(steps.iter().any(|step| step.ends_with(expected)), "{expected}: {steps:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn organizations_of_a_long_backlog_are_found_without_reading_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = Some(db.organization_id);
    let documents = vec![DOCUMENT; 3];
    let connection = &mut db.connection;
    queries::outbox::enqueue_documents_of(connection, IndexName::Workspace, organization_id, documents, NOW)
        .await
        .unwrap();
    db.statements();
    let pending = queries::outbox::pending_outbox(&mut db.connection, IndexName::Workspace, 2).await.unwrap();
    assert_eq!((pending.entries.len(), pending.has_more), (2, true));
    let steps = plans(&mut db).await;
    let entries: Vec<&String> = steps.iter().filter(|step| step.contains(" outbox_of_")).collect();
    assert!(entries.iter().any(|step| step.ends_with("(index_name=? AND organization_id>?)")), "{steps:#?}");
    // The oldest entries are read by the index, up to their limit.
    let whole = entries.iter().filter(|step| step.ends_with("outbox_of_organization (index_name=?)"));
    assert_eq!(whole.count(), 0, "{steps:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clearings_are_found_without_reading_the_backlog() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let connection = &mut db.connection;
    queries::outbox::enqueue_documents_of(connection, IndexName::Web, None, vec![DOCUMENT; 3], NOW).await.unwrap();
    db.statements();
    let is_expected = |step: &String| step.contains("INDEX outbox_clearings (index_name=?");
    queries::outbox::pending_outbox(&mut db.connection, IndexName::Web, 2).await.unwrap();
    let steps = plans(&mut db).await;
    assert!(steps.iter().any(is_expected), "{steps:#?}");
    queries::outbox::enqueue_missing_rebuild(&mut db.connection, IndexName::Web, NOW).await.unwrap();
    let steps = plans(&mut db).await;
    assert!(steps.iter().any(is_expected), "{steps:#?}");
}
