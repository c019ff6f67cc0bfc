//! Pages of the shared web index.

use docstore::{Grant, NewDocument, SaveOutcome};
use model::{Collection, Timestamp};

use crate::support::{Database, NOW, at, new_organization, page, workspace_document};

on_both_backends!(
    index_with_pages_is_told_from_an_empty_one,
    listed_page_is_found_by_an_index,
    listed_pages_are_looked_up_by_id,
    content_of_removed_pages_is_deleted_after_a_while,
    shown_content_of_a_removed_page_is_kept_as_evidence,
);

fn unlisted(number: usize) -> NewDocument {
    let mut new = page(&format!("https://read.example/{number}"), "a text");
    new.document.listed = false;
    new
}

async fn index_with_pages_is_told_from_an_empty_one(db: Database) {
    let own = workspace_document(new_organization(&db).await, "a.md", "a file");
    let listed = page("https://listed.example/", "a text");
    let doc_id = listed.document.doc_id;
    db.save_documents(vec![own, unlisted(0)], NOW).await.unwrap();
    assert!(!db.has_web_pages().await.unwrap());
    db.save_documents(vec![listed], NOW).await.unwrap();
    assert!(db.has_web_pages().await.unwrap());
    db.remove_web_pages(vec![doc_id], at(1), None).await.unwrap();
    assert!(!db.has_web_pages().await.unwrap());
}

/// Without statistics, PostgreSQL finds pages by an index of all.
async fn listed_pages_are_looked_up_by_id(db: Database) {
    let pages: Vec<NewDocument> =
        (0..5_000).map(|number| page(&format!("https://listed.example/{number}"), "a text")).collect();
    let literal = |new: &NewDocument| match new.document.doc_id.0 {
        id if db.is_sqlite() => format!("x'{}'", id.simple()),
        id => format!("'{id}'"),
    };
    let ids: Vec<String> = pages.iter().take(10).map(literal).collect();
    db.save_documents(pages, NOW).await.unwrap();
    db.refresh_statistics().await.unwrap();
    // As searches load their candidates.
    let plan = db
        .plan(&format!(
            "SELECT doc_id, latest_capture_id FROM documents
             WHERE doc_id IN ({}) AND listed AND removed_at IS NULL AND organization_id IS NULL",
            ids.join(", ")
        ))
        .await;
    // A condition that only filters what the index finds has no effect on what is read.
    let condition =
        plan.lines().find(|line| line.contains("Index Cond") || line.contains("SEARCH")).unwrap_or_default();
    assert!(condition.contains("doc_id = ANY") || condition.contains("doc_id=?"), "{plan}");
}

/// Any number of pages may be read by their URLs.
async fn listed_page_is_found_by_an_index(db: Database) {
    db.save_documents((0..1_000).map(unlisted).collect(), NOW).await.unwrap();
    if !db.is_sqlite() {
        // PostgreSQL does by itself, SQLite does not.
        db.execute("ANALYZE").await;
    }
    // As `has_web_pages` asks.
    let plan = db
        .plan("SELECT EXISTS (SELECT 1 FROM documents WHERE organization_id IS NULL AND listed AND removed_at IS NULL)")
        .await;
    assert!(plan.contains("listed_web_pages"), "{plan}");
    // Pages in the order of their ids have an index in that order.
    let ordered = "SELECT doc_id FROM documents WHERE organization_id IS NULL AND listed AND removed_at IS NULL
        ORDER BY doc_id LIMIT 100";
    assert!(!db.plan(ordered).await.contains("TEMP B-TREE"));
}

async fn content_of_removed_pages_is_deleted_after_a_while(db: Database) {
    let urls = ["https://a.example/", "https://b.example/", "https://c.example/"];
    let pages = urls.map(|url| page(url, "a text"));
    let doc_ids = [&pages[0], &pages[1], &pages[2]].map(|new| new.document.doc_id);
    db.save_documents(pages.to_vec(), NOW).await.unwrap();
    db.store_term_vectors(vec![crate::term_vectors::term_vector(&pages[0], b"terms")]).await.unwrap();
    let own = workspace_document(new_organization(&db).await, "a.md", "a file");
    db.save_documents(vec![own], NOW).await.unwrap();
    db.remove_web_pages(doc_ids[..2].to_vec(), at(5), None).await.unwrap();
    assert_eq!(db.prune_removed_pages(at(5), at(10), 10).await.unwrap(), 0);
    for (expected, captures) in [(1, 3), (1, 2), (0, 2)] {
        assert_eq!(db.prune_removed_pages(at(6), at(10), 1).await.unwrap(), expected);
        assert_eq!(db.count("captures").await, captures);
    }
    assert_eq!((db.count("term_vectors").await, db.count("passages WHERE ordinal = 0").await), (0, 2));
    assert_eq!(db.count("documents").await, 4, "the rows stay");

    let save = async |content: &str, read_at: Timestamp| {
        let mut new = page(urls[0], content);
        new.capture.captured_at = read_at;
        db.save_documents(vec![new], at(20)).await.unwrap()
    };
    save("a text", at(5)).await;
    assert!(!db.find_web_page(doc_ids[0]).await.unwrap(), "content from before the removal");
    assert_eq!(db.prune_removed_pages(at(6), at(20), 10).await.unwrap(), 1);
    assert_eq!(save("a text", at(6)).await, [SaveOutcome::Stored]);
    assert!(db.find_web_page(doc_ids[0]).await.unwrap());
    let loaded = db.load_documents(Collection::Web, doc_ids.to_vec()).await.unwrap();
    let restored = loaded.iter().find(|loaded| loaded.document.doc_id == doc_ids[0]).unwrap();
    assert_eq!((loaded.len(), restored.capture.content.as_str()), (2, "a text"));
    assert_eq!(db.prune_removed_pages(at(30), at(30), 10).await.unwrap(), 0);
}

async fn shown_content_of_a_removed_page_is_kept_as_evidence(db: Database) {
    let reader = new_organization(&db).await;
    let new = page("https://a.example/", "a text");
    let (doc_id, capture_id) = (new.document.doc_id, new.capture.capture_id);
    db.save_documents(vec![new], NOW).await.unwrap();
    let grant = Grant { organization_id: reader, doc_id, granted_at: NOW, capture_id: Some(capture_id) };
    db.grant_document(grant).await.unwrap();
    db.keep_as_evidence(reader, vec![capture_id], at(100)).await.unwrap();
    db.remove_web_pages(vec![doc_id], at(5), None).await.unwrap();
    assert_eq!(db.prune_removed_pages(at(6), at(10), 10).await.unwrap(), 1);
    assert_eq!(db.number("max(superseded_at)", "captures").await, at(10).as_millis());
    assert!(db.read_document(reader, doc_id).await.unwrap().is_none());
    assert_eq!(db.prune_captures(at(50), at(99), 10).await.unwrap(), 0);
    assert_eq!(db.prune_captures(at(50), at(100), 10).await.unwrap(), 1);
    assert_eq!((db.count("captures").await, db.count("documents").await), (0, 1));
}
