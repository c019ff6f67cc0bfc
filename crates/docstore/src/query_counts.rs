//! Numbers and columns of the queries behind frequent operations.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use diesel::connection::InstrumentationEvent;
use diesel_async::{AsyncConnection, RunQueryDsl};
use model::{
    BalanceReason, CaptureFormat, CaptureId, Collection, DocId, IndexName, OrganizationId, PassageId, Timestamp,
};
use uuid::Uuid;

use crate::backend::sqlite::{Conn, queries};
use crate::documents::{NewDocument, NewPage, NewPageRead};
use crate::rows::{
    AuditEntry, BalanceEntry, Capture, Document, Grant, Organization, PageRead, Passage, StoredTermVector, UsageEvent,
    WebhookDelivery,
};
use crate::types::{Details, Strings};
use crate::{Docstore, Location};

pub const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);
pub const DOCUMENT: DocId = DocId(Uuid::from_u128(7));

/// Connection to a new database, with the statements that it runs.
pub struct Observed {
    pub connection: Conn,
    statements: Arc<Mutex<Vec<String>>>,
    pub organization_id: OrganizationId,
}

impl Observed {
    pub async fn new(folder: &Path) -> Self {
        let file = folder.join("test.db");
        let store = Docstore::open(&Location::Sqlite(file.clone()), 1).unwrap();
        store.migrate().await.unwrap();
        let organization_id = OrganizationId(Uuid::new_v4());
        let organization = Organization {
            id: organization_id,
            name: "acme".into(),
            billed: false,
            created_at: NOW,
            deleted_at: None,
            removed_at: None,
        };
        let entry = AuditEntry {
            id: model::AuditEntryId(Uuid::new_v4()),
            created_at: NOW,
            actor: "test".into(),
            action: model::AuditAction::OrganizationCreated,
            organization_id: Some(organization_id),
            subject_id: Some(organization_id.0),
            details: Details::default(),
        };
        store.create_organization(organization, None, entry).await.unwrap();
        let mut connection = Conn::establish(file.to_str().unwrap()).await.unwrap();
        let statements = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&statements);
        connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
            if let InstrumentationEvent::StartQuery { query, .. } = event {
                seen.lock().unwrap().push(query.to_string());
            }
        });
        Self { connection, statements, organization_id }
    }

    /// Returns the statements since the last call.
    pub fn statements(&self) -> Vec<String> {
        std::mem::take(&mut self.statements.lock().unwrap())
    }
}

fn capture(organization_id: Option<OrganizationId>, content: &str) -> (Capture, Vec<Passage>) {
    let capture = Capture {
        capture_id: CaptureId(Uuid::new_v4()),
        doc_id: DOCUMENT,
        captured_at: NOW,
        format: CaptureFormat::Markdown,
        content_digest: format!("sha256:{content}"),
        content: content.to_owned(),
        headings: Strings::default(),
        fetched_from: None,
        etag: None,
        last_modified: None,
        organization_id,
        parts: None,
    };
    let passage = Passage {
        passage_id: PassageId(Uuid::new_v4()),
        doc_id: DOCUMENT,
        capture_id: capture.capture_id,
        ordinal: 0,
        byte_start: 0,
        byte_end: 1,
        char_start: 0,
        char_end: 1,
        section_path: Strings::default(),
    };
    (capture, vec![passage])
}

pub fn listed_page(content: &str) -> NewDocument {
    let (capture, passages) = capture(None, content);
    let document = Document {
        doc_id: DOCUMENT,
        collection: Collection::Web,
        canonical_url: "https://example.com/".into(),
        source_url: "https://example.com/".into(),
        source_uri: None,
        title: None,
        description: None,
        mime: None,
        language: None,
        country: None,
        labels: Strings::default(),
        published_at: None,
        first_seen_at: NOW,
        last_seen_at: NOW,
        last_crawled_at: None,
        latest_capture_id: Some(capture.capture_id),
        removed_at: None,
        listed: true,
    };
    NewDocument { document, capture, passages, parts: None }
}

pub fn reading(organization_id: OrganizationId, content: &str) -> NewPageRead {
    let (capture, passages) = capture(Some(organization_id), content);
    let read = PageRead {
        organization_id,
        doc_id: DOCUMENT,
        source_url: "https://example.com/".into(),
        title: None,
        description: None,
        mime: None,
        language: None,
        labels: Strings::default(),
        published_at: None,
        first_seen_at: NOW,
        last_seen_at: NOW,
        last_crawled_at: None,
        stale_at: None,
        latest_capture_id: Some(capture.capture_id),
    };
    NewPageRead { canonical_url: "https://example.com/".into(), read, capture, passages, parts: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn document_is_read_with_three_queries_that_name_the_organization() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = db.organization_id;
    queries::captures::save_documents(&mut db.connection, vec![listed_page("shared")], NOW).await.unwrap();
    for content in ["shared", "own"] {
        if content == "own" {
            queries::page_reads::save_page_read(&mut db.connection, reading(organization_id, content)).await.unwrap();
        }
        db.statements();
        let found = queries::documents::read_document(&mut db.connection, organization_id, DOCUMENT).await.unwrap();
        let (visible, stored) = found.unwrap();
        let stored = stored.unwrap();
        assert_eq!((stored.capture.content.as_str(), stored.passages.len()), (content, 1));
        assert!(visible.granted_at.is_none());
        let statements = db.statements();
        assert_eq!(statements.len(), 3, "{statements:#?}");
        assert!(statements.iter().all(|text| text.contains("`organization_id` = ?")), "{statements:#?}");
    }

    let denied =
        queries::documents::read_granted_document(&mut db.connection, organization_id, DOCUMENT).await.unwrap();
    assert_eq!((denied.is_none(), db.statements().len()), (true, 1));
    let grant = Grant { organization_id, doc_id: DOCUMENT, granted_at: NOW, capture_id: None };
    queries::activity::grant_document(&mut db.connection, grant).await.unwrap();
    db.statements();
    let granted =
        queries::documents::read_granted_document(&mut db.connection, organization_id, DOCUMENT).await.unwrap();
    assert_eq!((granted.is_some_and(|(visible, _)| visible.granted_at.is_some()), db.statements().len()), (true, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_that_are_granted_already_cost_one_query() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let page = listed_page("shared");
    let grant = Grant {
        organization_id: db.organization_id,
        doc_id: DOCUMENT,
        granted_at: NOW,
        capture_id: Some(page.capture.capture_id),
    };
    queries::captures::save_documents(&mut db.connection, vec![page], NOW).await.unwrap();
    let mut counts = Vec::new();
    for _ in 0..2 {
        db.statements();
        queries::activity::record_searches(&mut db.connection, vec![], vec![grant.clone()]).await.unwrap();
        counts.push(db.statements());
    }
    assert_eq!((counts[0].len() > 1, counts[1].len()), (true, 1), "{counts:#?}");
    assert!(counts[1][0].starts_with("SELECT"), "{counts:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_without_content_is_read_with_one_query() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let page = NewPage {
        organization_id: db.organization_id,
        doc_id: DOCUMENT,
        canonical_url: "https://example.com/".into(),
        source_url: "https://example.com/".into(),
    };
    queries::page_reads::register_page(&mut db.connection, page, NOW).await.unwrap();
    db.statements();
    let found = queries::documents::read_document(&mut db.connection, db.organization_id, DOCUMENT).await.unwrap();
    assert!(found.is_some_and(|(visible, stored)| visible.granted_at.is_some() && stored.is_none()));
    assert_eq!(db.statements().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_is_not_loaded_to_compare_digests() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = db.organization_id;
    for content in ["first", "first", "second"] {
        db.statements();
        queries::page_reads::save_page_read(&mut db.connection, reading(organization_id, content)).await.unwrap();
        let statements = db.statements();
        let loaded: Vec<_> =
            statements.iter().filter(|text| text.starts_with("SELECT") && text.contains("`content`")).collect();
        assert_eq!((statements.is_empty(), loaded.len()), (false, 0), "{loaded:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn document_is_loaded_for_ranking_with_one_query_without_content() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let page = listed_page("shared");
    let row = StoredTermVector {
        doc_id: DOCUMENT,
        capture_id: page.capture.capture_id,
        version: 1,
        text_key: 0,
        terms: vec![1],
    };
    queries::captures::save_documents(&mut db.connection, vec![page], NOW).await.unwrap();
    queries::term_vectors::store_term_vectors(&mut db.connection, vec![row]).await.unwrap();
    for (collection, condition) in [
        (Collection::Web, "(`documents`.`organization_id` IS NULL)"),
        (Collection::Workspace(db.organization_id), "(`documents`.`organization_id` = ?)"),
    ] {
        db.statements();
        queries::documents::find_latest_states(&mut db.connection, collection, vec![DOCUMENT]).await.unwrap();
        let loaded =
            queries::term_vectors::load_for_ranking(&mut db.connection, collection, vec![DOCUMENT], 1).await.unwrap();
        assert_eq!(
            loaded.iter().filter(|found| found.terms.is_some()).count(),
            usize::from(collection == Collection::Web)
        );
        let statements = db.statements();
        assert_eq!(statements.len(), 2, "{statements:#?}");
        for statement in statements {
            assert!(statement.contains(condition) && !statement.contains("`content`"), "{statement}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_of_a_batch_do_not_grow_with_its_documents() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let mut counts = Vec::new();
    for size in [1, 300] {
        let batch = (0..size).map(|number| {
            let mut new = listed_page("content");
            let doc_id = DocId(Uuid::new_v4());
            new.document.canonical_url = format!("https://example.com/{size}/{number}");
            (new.document.doc_id, new.capture.doc_id) = (doc_id, doc_id);
            new.passages.iter_mut().for_each(|passage| passage.doc_id = doc_id);
            new
        });
        let batch: Vec<NewDocument> = batch.collect();
        db.statements();
        queries::captures::save_documents(&mut db.connection, batch, NOW).await.unwrap();
        counts.push(db.statements().len());
    }
    assert_eq!(counts[0], counts[1]);
    assert!(counts[0] < 10, "{counts:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_of_the_outbox_are_two_entries_of_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = db.organization_id;
    queries::outbox::outbox_bounds(&mut db.connection, IndexName::Web).await.unwrap();
    queries::outbox::outbox_bounds_of(&mut db.connection, IndexName::Workspace, organization_id).await.unwrap();
    let statements = db.statements();
    assert_eq!(statements.len(), 2, "{statements:#?}");
    for statement in statements {
        assert_eq!(statement.matches("LIMIT").count(), 2, "{statement}");
    }
}

fn due_delivery(organization_id: OrganizationId) -> WebhookDelivery {
    WebhookDelivery {
        delivery_id: Uuid::new_v4().into(),
        organization_id,
        webhook_id: None,
        url: None,
        secret: None,
        event_type: String::new(),
        payload: String::new(),
        attempts: 0,
        next_attempt_at: NOW,
        lease_owner: None,
        lease_expires_at: None,
        last_error: None,
        created_at: NOW,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claim_of_deliveries_reads_no_more_than_it_may_take() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    for _ in 0..5 {
        let delivery = due_delivery(db.organization_id);
        queries::deliveries::enqueue_delivery(&mut db.connection, delivery).await.unwrap();
    }
    db.statements();
    let later = NOW + std::time::Duration::from_secs(1);
    let claimed =
        queries::deliveries::claim_deliveries(&mut db.connection, "worker".to_owned(), NOW, later, 3, 3).await.unwrap();
    assert_eq!(claimed.len(), 3);
    let mut statements = db.statements();
    statements.retain(|text| text.starts_with("SELECT") && text.contains("FROM `webhook_deliveries`"));
    statements.retain(|text| !text.contains("LIMIT"));
    assert_eq!(statements.len(), 1, "{statements:#?}");
    assert!(statements[0].contains("`lease_expires_at` > ?"), "{statements:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_of_a_claim_do_not_grow_with_the_organizations() {
    const NUMBERS: &str = "WITH RECURSIVE numbers(number) AS
         (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 1500)";
    const DELIVERIES: &str = "INSERT INTO webhook_deliveries
         (delivery_id, organization_id, event_type, payload, attempts, next_attempt_at, created_at)";
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organizations = format!(
        "INSERT INTO organizations (id, name, billed, created_at)
         {NUMBERS} SELECT randomblob(16), 'other', 0, created_at FROM organizations, numbers"
    );
    // An hour after `NOW`.
    let postponed = format!(
        "{DELIVERIES} SELECT randomblob(16), id, '', '', 1, created_at + 3600000, created_at FROM organizations"
    );
    let backlog = format!(
        "{DELIVERIES} {NUMBERS} SELECT randomblob(16), id, '', '', 0, 1, 1 FROM organizations, numbers
         WHERE name = 'acme'"
    );
    let due_of_another = format!(
        "{DELIVERIES} SELECT randomblob(16), id, '', '', 0, created_at, created_at FROM organizations
         WHERE name = 'other' LIMIT 1"
    );
    for statement in [organizations, postponed] {
        diesel::sql_query(statement).execute(&mut db.connection).await.unwrap();
    }
    queries::deliveries::enqueue_delivery(&mut db.connection, due_delivery(db.organization_id)).await.unwrap();
    let later = NOW + std::time::Duration::from_secs(1);
    // Then one organization has more due deliveries than are looked at first, three of which it may have beside the first one.
    for (added, expected) in [(Vec::new(), 1), (vec![backlog, due_of_another], 4)] {
        for statement in added {
            diesel::sql_query(statement).execute(&mut db.connection).await.unwrap();
        }
        db.statements();
        let claimed =
            queries::deliveries::claim_deliveries(&mut db.connection, "worker".to_owned(), NOW, later, 32, 4).await;
        assert_eq!(claimed.unwrap().len(), expected);
        let statements = db.statements();
        assert!(statements.len() < 10, "{statements:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_of_snippets_do_not_grow_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = db.organization_id;
    let mut counts = Vec::new();
    for size in [1, 10] {
        let snippet = |number: usize| {
            let mut new = reading(organization_id, "a text");
            let doc_id = DocId(Uuid::new_v4());
            new.canonical_url = format!("https://example.com/{size}/{number}");
            (new.read.doc_id, new.capture.doc_id) = (doc_id, doc_id);
            new.passages.iter_mut().for_each(|passage| passage.doc_id = doc_id);
            new
        };
        let snippets: Vec<NewPageRead> = (0..size).map(snippet).collect();
        db.statements();
        let saved = queries::snippets::save_snippets(&mut db.connection, organization_id, snippets).await.unwrap();
        assert_eq!(saved.len(), size);
        counts.push(db.statements().len());
    }
    assert_eq!(counts[0], counts[1]);
    assert!(counts[0] < 10, "{counts:?}");
}

/// Returns the first word of each statement. Of equal ones that follow each other, which are sent together, returns one.
fn steps(statements: Vec<String>) -> Vec<String> {
    let words = statements.iter().filter_map(|text| text.split(' ').next());
    let mut steps: Vec<String> = words.map(str::to_owned).collect();
    steps.dedup();
    steps
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_for_usage_do_not_grow_with_the_identities() {
    let folder = tempfile::tempdir().unwrap();
    let mut db = Observed::new(folder.path()).await;
    let organization_id = db.organization_id;
    let entry = |cents: i64, identity: Option<String>| BalanceEntry {
        identity,
        ..BalanceEntry::new(Uuid::new_v4().into(), organization_id, cents, BalanceReason::Added, NOW)
    };
    queries::balances::post_balance_entry(&mut db.connection, entry(1_000, None)).await.unwrap();
    for size in [1, 100] {
        let identities: Vec<String> = (0..size).map(|number| format!("key:{number}")).collect();
        let event = |identity: &String| UsageEvent {
            organization_id,
            identity: identity.clone(),
            route: "POST /v1/search".to_owned(),
            status: 200,
            duration_us: 1,
            created_at: NOW,
        };
        let events: Vec<UsageEvent> = identities.iter().map(event).collect();
        db.statements();
        queries::usage::record_usage(&mut db.connection, events, true).await.unwrap();
        assert_eq!(steps(db.statements()), ["INSERT", "SELECT", "UPDATE", "INSERT"], "{size}");
        let debits: Vec<BalanceEntry> = identities.into_iter().map(|identity| entry(-1, Some(identity))).collect();
        let outcomes = queries::balances::post_balance_entries(&mut db.connection, debits).await.unwrap();
        assert!(outcomes.iter().all(Option::is_some), "{outcomes:?}");
        assert_eq!(steps(db.statements()), ["SELECT", "UPDATE", "INSERT", "UPDATE", "INSERT"], "{size}");
    }
}
