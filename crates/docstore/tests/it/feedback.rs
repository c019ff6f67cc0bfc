//! Feedback on results.

use docstore::{Feedback, Grant};

use crate::support::{Database, NOW, at, new_feedback, new_organization, page};

on_both_backends!(feedback_round_trips, nul_is_stripped_from_feedback, feedback_and_its_stale_mark_are_stored_together,);

async fn feedback_round_trips(db: Database) {
    let ours = new_organization(&db).await;
    let full = Feedback { comment: Some("good".to_owned()), result_rank: Some(3), ..new_feedback(ours) };
    db.record_feedback(full, None).await.unwrap();
    db.record_feedback(new_feedback(ours), None).await.unwrap();
    let stored = "SELECT coalesce(comment, '-') || ' ' || coalesce(CAST(result_rank AS TEXT), '-') AS line
        FROM feedback ORDER BY 1 DESC";
    let mut lines: Vec<String> = db.lines(stored).await.into_iter().flatten().collect();
    lines.sort();
    assert_eq!(lines, ["- -", "good 3"]);
}

async fn nul_is_stripped_from_feedback(db: Database) {
    let odd = Feedback {
        comment: Some("c\0d".to_owned()),
        query: Some("\0".to_owned()),
        client_model: Some("m\0".to_owned()),
        ..new_feedback(new_organization(&db).await)
    };
    db.record_feedback(odd, None).await.unwrap();
    assert_eq!(db.count("feedback WHERE comment = 'cd' AND query = '' AND client_model = 'm'").await, 1);
}

async fn feedback_and_its_stale_mark_are_stored_together(db: Database) {
    let ours = new_organization(&db).await;
    let new = page("https://example.com/", "a page");
    let doc_id = new.document.doc_id;
    db.save_documents(vec![new], NOW).await.unwrap();
    db.grant_document(Grant { organization_id: ours, doc_id, granted_at: NOW, capture_id: None }).await.unwrap();
    let event = new_feedback(ours);

    // The page cannot be marked.
    db.execute("ALTER TABLE page_reads RENAME TO renamed_page_reads").await;
    assert!(db.record_feedback(event.clone(), Some(doc_id)).await.is_err());
    db.execute("ALTER TABLE renamed_page_reads RENAME TO page_reads").await;
    assert_eq!(db.count("feedback").await, 0);
    db.record_feedback(event.clone(), Some(doc_id)).await.unwrap();

    // The event cannot be stored again.
    let again = Feedback { created_at: at(1), ..event };
    assert!(db.record_feedback(again, Some(doc_id)).await.is_err());
    assert_eq!(db.count("feedback").await, 1);
    let (seen, _) = db.read_document(ours, doc_id).await.unwrap().unwrap();
    assert_eq!(seen.stale_at, Some(NOW));
}
