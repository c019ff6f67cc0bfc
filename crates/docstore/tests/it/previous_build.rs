//! Databases of previous builds.

use std::fs;
use std::path::Path;

use docstore::{DurationHistogram, MINUTE, RollupPosition, StorageTotals};
use model::{Collection, DocId, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::support::Database;

on_both_backends!(
    empty: pages_read_before_stay_with_their_readers,
    files_and_requests_of_before_are_counted,
    deleted_files_of_before_are_counted,
);

/// Runs the migrations of a build that does not have `first_new` and later ones.
async fn migrate_to_previous(db: &Database, first_new: &str) {
    let backend = if db.is_sqlite() { "sqlite" } else { "postgres" };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(backend);
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.as_str() < first_new).collect();
    names.sort();
    db.execute(
        "CREATE TABLE __diesel_schema_migrations (
            version VARCHAR(50) PRIMARY KEY NOT NULL,
            run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
        )",
    )
    .await;
    for name in names {
        db.execute(&fs::read_to_string(folder.join(&name).join("up.sql")).unwrap()).await;
        let version = name.split('_').next().unwrap().replace('-', "");
        db.execute(&format!("INSERT INTO __diesel_schema_migrations (version) VALUES ('{version}')")).await;
    }
}

/// Writes an id as a literal of the database.
fn literal(db: &Database, id: Uuid) -> String {
    if db.is_sqlite() { format!("x'{}'", id.simple()) } else { format!("'{id}'") }
}

async fn pages_read_before_stay_with_their_readers(db: Database) {
    migrate_to_previous(&db, "2026-11-22-000000_page_reads").await;
    let id = |number: u128| literal(&db, Uuid::from_u128(number));
    let (ours, theirs, stranger) = (1, 2, 3);
    let (secret, listed, unread) = (10, 11, 12);
    for organization in [ours, theirs, stranger] {
        let id = id(organization);
        db.execute(&format!("INSERT INTO organizations VALUES ({id}, 'example', FALSE, 0)")).await;
    }
    for (doc_id, is_listed) in [(secret, "FALSE"), (listed, "TRUE"), (unread, "FALSE")] {
        let (document, capture, passage) = (id(doc_id), id(doc_id + 100), id(doc_id + 200));
        db.execute(&format!(
            "INSERT INTO documents (doc_id, canonical_url, source_url, title, labels, first_seen_at, last_seen_at,
                 latest_capture_id, listed, stale_at)
             VALUES ({document}, 'https://example.com/{doc_id}', 'https://example.com/{doc_id}#a', 'Title', '[]', 5, 6,
                 {capture}, {is_listed}, 7);
             INSERT INTO captures (capture_id, doc_id, captured_at, format, content_digest, content, headings)
             VALUES ({capture}, {document}, 6, 'markdown', 'sha256:0', 'The content.', '[]');
             INSERT INTO passages (passage_id, doc_id, capture_id, ordinal, byte_start, byte_end, char_start, char_end,
                 section_path)
             VALUES ({passage}, {document}, {capture}, 0, 0, 12, 0, 12, '[]')"
        ))
        .await;
    }
    for (organization, doc_id, granted_at) in [(ours, secret, 100), (theirs, secret, 200), (ours, listed, 300)] {
        let (organization, doc_id) = (id(organization), id(doc_id));
        db.execute(&format!("INSERT INTO grants VALUES ({organization}, {doc_id}, {granted_at})")).await;
    }

    assert!(db.migrate().await.unwrap() > 0);
    let organization = |number: u128| OrganizationId(Uuid::from_u128(number));
    let document = |number: u128| DocId(Uuid::from_u128(number));
    for (reader, granted_at) in [(ours, 100), (theirs, 200)] {
        let found = db.find_granted_document(organization(reader), document(secret)).await.unwrap().unwrap();
        let time = Timestamp::from_millis(granted_at);
        assert_eq!((found.document.first_seen_at, found.document.last_seen_at), (time, time));
        assert_eq!(found.document.title.as_deref(), Some("Title"));
        let stored = db
            .read_document(organization(reader), document(secret))
            .await
            .unwrap()
            .and_then(|(_, stored)| stored)
            .unwrap();
        assert_eq!((stored.capture.content.as_str(), stored.passages.len()), ("The content.", 1));
        assert_eq!(stored.capture.organization_id, Some(organization(reader)));
    }
    assert!(
        db.read_document(organization(stranger), document(secret)).await.unwrap().map(|(visible, _)| visible).is_none()
    );
    assert!(
        db.read_document(organization(stranger), document(secret))
            .await
            .unwrap()
            .and_then(|(_, stored)| stored)
            .is_none()
    );
    for reader in [ours, stranger] {
        let stored = db
            .read_document(organization(reader), document(listed))
            .await
            .unwrap()
            .and_then(|(_, stored)| stored)
            .unwrap();
        assert_eq!(stored.capture.capture_id.0, Uuid::from_u128(listed + 100));
    }
    let loaded = db.load_documents(Collection::Web, vec![document(listed), document(secret)]).await.unwrap();
    assert_eq!((loaded.len(), loaded[0].document.first_seen_at), (1, Timestamp::from_millis(5)));
    assert_eq!(db.count("documents").await, 2, "a page without a reader is gone");
    assert_eq!((db.count("captures").await, db.count("passages").await), (3, 3));
    assert_eq!(db.count("documents WHERE NOT listed AND title IS NULL AND latest_capture_id IS NULL").await, 1);
}

async fn files_and_requests_of_before_are_counted(db: Database) {
    migrate_to_previous(&db, "2026-11-22-030000_minutes_of_usage").await;
    let id = literal(&db, Uuid::from_u128(1));
    let organization_id = OrganizationId(Uuid::from_u128(1));
    db.execute(&format!("INSERT INTO organizations VALUES ({id}, 'example', TRUE, 0)")).await;
    for (key, size, withdrawn) in [("read", "70", "NULL"), ("unread", "NULL", "NULL"), ("deleted", "NULL", "5")] {
        db.execute(&format!(
            "INSERT INTO files (object_key, organization_id, name, doc_id, created_at, processed_size, withdrawn_at)
             VALUES ('{key}', {id}, '{key}', {id}, 0, {size}, {withdrawn})"
        ))
        .await;
    }
    for (status, at) in [(200, 60_000), (404, 119_999), (500, 120_000)] {
        db.execute(&format!(
            "INSERT INTO usage_events (organization_id, identity, route, status, duration_us, created_at)
             VALUES ({id}, 'key:1', 'POST /v1/search', {status}, 10, {at})"
        ))
        .await;
    }
    let spent = literal(&db, Uuid::from_u128(2));
    db.execute(&format!(
        "INSERT INTO balance_entries (id, organization_id, cents, reason, created_at, identity)
         VALUES ({spent}, {id}, -3, 'search', 70000, 'key:1')"
    ))
    .await;

    assert!(db.migrate().await.unwrap() > 0);
    assert_eq!(db.find_storage_totals(organization_id).await.unwrap(), StorageTotals { files: 2, bytes: 70 });
    let unmeasured = db.list_expired_uploads(None, Timestamp::from_millis(1), 10).await.unwrap();
    assert_eq!(unmeasured.len(), 2, "files that were never read are measured");
    let (start, end) = (RollupPosition::before(Timestamp::UNIX_EPOCH), Timestamp::from_millis(1_000_000));
    let minutes = db.list_usage_rollups(organization_id, MINUTE, start, end, 100).await.unwrap();
    let counts: Vec<_> = minutes
        .iter()
        .map(|row| {
            (
                row.start.as_millis(),
                row.requests,
                row.client_errors,
                row.server_errors,
                row.duration_us,
                row.spend_cents,
            )
        })
        .collect();
    assert_eq!(counts, [(60_000, 2, 1, 0, 20, 3), (120_000, 1, 0, 1, 10, 0)]);
    assert!(minutes.iter().all(|row| DurationHistogram::from_bytes(&row.histogram).is_some()));
}

async fn deleted_files_of_before_are_counted(db: Database) {
    migrate_to_previous(&db, "2026-11-26-120000_deleted_files_count").await;
    let id = literal(&db, Uuid::from_u128(1));
    db.execute(&format!("INSERT INTO organizations (id, name, billed, created_at) VALUES ({id}, 'example', TRUE, 0)"))
        .await;
    for (key, bytes, withdrawn) in [("stored", 70, "NULL"), ("expected", 5, "5"), ("deleted", 0, "5")] {
        db.execute(&format!(
            "INSERT INTO files (object_key, organization_id, name, doc_id, created_at, bytes, withdrawn_at)
             VALUES ('{key}', {id}, '{key}', {id}, 0, {bytes}, {withdrawn})"
        ))
        .await;
    }
    db.execute(&format!("INSERT INTO storage_totals VALUES ({id}, 1, 75)")).await;
    assert!(db.migrate().await.unwrap() > 0);
    let totals = db.find_storage_totals(OrganizationId(Uuid::from_u128(1))).await.unwrap();
    assert_eq!(totals, StorageTotals { files: 2, bytes: 75 });
}
