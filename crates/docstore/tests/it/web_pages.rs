//! Pages of the shared web index.

use docstore::NewDocument;

use crate::support::{Database, NOW, at, new_organization, page, workspace_document};

on_both_backends!(
    index_with_pages_is_told_from_an_empty_one,
    listed_page_is_found_by_an_index,
    listed_pages_are_looked_up_by_id
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
