//! Tables: equal on both backends, and cascading from their organization.

use std::collections::BTreeSet;

use docstore::{
    ApiKey, BalanceEntry, Details, EmbeddingProgress, File, FileChanges, FileContent, FileResult, Grant, IndexRun,
    ModelCalibration, NewResearchEvent, Search, StorageQuotas, UsageEvent,
};
use model::{BalanceReason, DocId, FileOutcome, Generation, IndexName, OrganizationId, RunMode, RunStats};
use uuid::Uuid;

use crate::support::{
    Database, NOW, at, audit_entry, divided, new_delivery, new_feedback, new_organization, new_research, new_webhook,
    page, workspace_document,
};

on_both_backends!(columns_match_schema, deleting_organization_cascades);

/// Returns the columns declared in `schema.rs`, as `table.column null` or `table.column not null`.
fn declared() -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    let mut table = "";
    for line in include_str!("../../src/schema.rs").lines().map(str::trim) {
        if let Some((column, sql_type)) = line.split_once(" -> ") {
            if !line.starts_with("diesel::") {
                let nullable = if sql_type.starts_with("Nullable<") { "null" } else { "not null" };
                columns.insert(format!("{table}.{column} {nullable}"));
            }
        } else if let Some((name, _)) = line.split_once(" (")
            && line.ends_with(") {")
        {
            table = name;
        }
    }
    columns
}

async fn columns_match_schema(db: Database) {
    let sql = if db.is_sqlite() {
        // SQLite reports an INTEGER primary key as nullable although it is never null.
        "SELECT m.name || '.' || c.name || CASE WHEN c.\"notnull\" = 1 OR c.pk > 0 THEN ' not null' ELSE ' null' END AS line
         FROM sqlite_master m JOIN pragma_table_info(m.name) c
         WHERE m.type = 'table' AND m.name NOT LIKE '\\_\\_%' ESCAPE '\\' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    } else {
        "SELECT table_name || '.' || column_name || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE ' null' END AS line
         FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_\\_%'"
    };
    let columns: BTreeSet<String> = db.lines(sql).await.into_iter().flatten().collect();
    let declared = declared();
    assert!(declared.len() > 80, "schema.rs was not parsed: {declared:?}");
    assert_eq!(columns, declared);
}

/// Tables that do not cascade: the outbox, leases, generations, models and their calibrations contain no tenant data beyond ids, the audit
/// log outlives its organization, and crawls belong to the shared web.
const NOT_CASCADING: [&str; 12] = [
    "audit_entries",
    "contractions",
    "crawl_counts",
    "crawl_hosts",
    "crawl_queues",
    "crawl_urls",
    "crawls",
    "index_generations",
    "index_models",
    "leases",
    "model_calibrations",
    "outbox",
];

async fn deleting_organization_cascades(db: Database) {
    let (kept, deleted) = (new_organization(&db).await, new_organization(&db).await);
    let web = page("https://example.com/", "a page");
    db.save_documents(vec![web.clone()], NOW).await.unwrap();
    for organization_id in [kept, deleted] {
        fill(&db, organization_id, web.document.doc_id).await;
    }
    let tables: BTreeSet<String> =
        declared().iter().filter_map(|line| line.split_once('.').map(|(table, _)| table.to_owned())).collect();
    crate::crawls::start(&db, "a crawl", &["https://example.com/"]).await;
    let (model, by_language) = ("model".to_owned(), "en=7".to_owned());
    let calibration = ModelCalibration { model, version: 2, meaning: 7.0, repetition: 4.0, by_language };
    db.store_calibration(calibration).await.unwrap();
    db.start_generation(IndexName::Web, None, Generation(Uuid::new_v4())).await.unwrap();
    db.use_model(Some("model".to_owned())).await.unwrap();
    let mut before = Vec::new();
    for table in &tables {
        let count = db.count(table).await;
        // `fill` must cover every new table, or its cascade would not be tested.
        assert!(count > 0 || table == "contractions" || table == "leases", "{table} is empty");
        before.push(count);
    }
    let id = if db.is_sqlite() { format!("x'{}'", deleted.0.simple()) } else { format!("'{deleted}'") };
    db.execute(&format!("DELETE FROM organizations WHERE id = {id}")).await;
    for (table, before) in tables.iter().zip(before) {
        let after = db.count(table).await;
        match table.as_str() {
            table if NOT_CASCADING.contains(&table) => assert_eq!(after, before, "{table}"),
            // One row per organization, and the web page.
            "documents" | "captures" => assert_eq!((before, after), (3, 2), "{table}"),
            // Four passages of each file, and that of the web page.
            "passages" => assert_eq!((before, after), (9, 5), "{table}"),
            // Two documents per organization.
            "grants" => assert_eq!((before, after), (4, 2), "{table}"),
            // A minute, an hour and a day per organization.
            "usage_rollups" => assert_eq!((before, after), (6, 3), "{table}"),
            table => assert_eq!((before, after), (2, 1), "{table}"),
        }
    }
    assert!(db.is_granted(kept, web.document.doc_id).await.unwrap());
}

/// Inserts a row of the organization into every table.
async fn fill(db: &Database, organization_id: OrganizationId, web: DocId) {
    let owner = organization_id;
    let new_id = Uuid::new_v4;
    let own = divided(workspace_document(organization_id, "a.md", "a file that is stored in two parts"));
    let own_id = own.document.doc_id;
    db.save_documents(vec![own.clone()], NOW).await.unwrap();
    let vectors = crate::vectors::vectors(&own, 1, EmbeddingProgress::Complete);
    db.store_vectors("model".to_owned(), vec![vectors], String::new(), NOW).await.unwrap();
    crate::vectors::enqueue(db, IndexName::Workspace, vec![own_id]).await;
    db.store_term_vectors(vec![crate::term_vectors::term_vector(&own, b"terms")]).await.unwrap();
    let key = ApiKey {
        id: new_id().into(),
        organization_id: owner,
        name: String::new(),
        prefix: String::new(),
        digest: organization_id.0.as_bytes().to_vec(),
        scopes: Vec::new(),
        limit_rps: None,
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
    };
    db.create_api_key(key, audit_entry()).await.unwrap();
    let paid = BalanceEntry::new(new_id().into(), owner, 5, BalanceReason::Prepaid, NOW);
    db.post_balance_entry(paid).await.unwrap();
    let search = Search {
        search_id: new_id().into(),
        organization_id: owner,
        identity: String::new(),
        session_id: new_id().into(),
        query: String::new(),
        results: Vec::new(),
        created_at: NOW,
        request: None,
        details: None,
    };
    let granted =
        [web, own_id].map(|doc_id| Grant { organization_id: owner, doc_id, granted_at: NOW, capture_id: None });
    db.record_searches(vec![search], granted.to_vec()).await.unwrap();
    db.record_feedback(new_feedback(owner), Some(web)).await.unwrap();
    let usage = UsageEvent {
        organization_id: owner,
        identity: String::new(),
        route: String::new(),
        status: 200,
        duration_us: 1,
        created_at: NOW,
    };
    db.record_usage(vec![usage], true).await.unwrap();
    let file = File::registered(organization_id.to_string(), owner, String::new(), own_id, NOW);
    db.register_file(file, StorageQuotas::NONE).await.unwrap();
    let run = IndexRun::queued(new_id().into(), owner, RunMode::Full, NOW);
    db.request_run(run.clone()).await.unwrap();
    db.claim_run("worker".to_owned(), NOW, at(1)).await.unwrap();
    let result = FileResult {
        object_key: organization_id.to_string(),
        doc_id: own_id,
        uploaded_at: NOW,
        changes: FileChanges {
            processed_etag: None,
            processed_size: None,
            outcome: Some(FileOutcome::Failed),
            reason: None,
            last_run_id: Some(run.sync_id),
        },
        content: FileContent::Keep,
        counts: RunStats::default(),
    };
    db.record_file_results(owner, run.sync_id, "worker".to_owned(), vec![result], NOW).await.unwrap();
    let webhook = new_webhook(db, owner, &[]).await;
    let delivery = new_delivery(owner, Some(webhook.webhook_id));
    db.enqueue_delivery(delivery).await.unwrap();
    let created = NewResearchEvent { kind: "created", data: Details::default() };
    db.create_research(new_research(owner), created, 1).await.unwrap();
}
