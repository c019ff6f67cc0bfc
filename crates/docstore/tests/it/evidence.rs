//! Captures that are kept after others have replaced them.

use docstore::{Docstore, Grant, NewDocument, NewPage, NewPageRead, ReadCapture, SaveOutcome};
use model::{CaptureId, DocId, OrganizationId, Timestamp};

use crate::support::{Database, NOW, at, divided, new_organization, page, workspace_document};

on_both_backends!(
    shown_capture_is_kept_when_it_is_replaced,
    unseen_capture_is_deleted_when_it_is_replaced,
    grant_follows_what_is_shown,
    cited_capture_is_kept_until_its_time,
    kept_captures_expire,
    own_readings_are_kept,
    returning_content_takes_its_old_capture,
    kept_captures_are_those_of_readers,
    removed_document_takes_its_kept_captures_along,
);

const URL: &str = "https://example.com/";

async fn save(db: &Docstore, new: &NewDocument, now: Timestamp) -> SaveOutcome {
    let mut new = new.clone();
    new.capture.captured_at = now;
    db.save_documents(vec![new], now).await.unwrap()[0]
}

async fn show(db: &Docstore, organization_id: OrganizationId, new: &NewDocument, now: Timestamp) {
    let capture_id = Some(new.capture.capture_id);
    let grant = Grant { organization_id, doc_id: new.document.doc_id, granted_at: now, capture_id };
    db.grant_document(grant).await.unwrap();
}

/// Reads a capture at [`NOW`], of those that were replaced after it.
async fn read(
    db: &Docstore,
    organization_id: OrganizationId,
    doc_id: DocId,
    capture_id: CaptureId,
) -> Option<ReadCapture> {
    db.read_capture(organization_id, doc_id, capture_id, NOW, NOW).await.unwrap()
}

fn versions<const N: usize>(contents: [&str; N]) -> [NewDocument; N] {
    contents.map(|content| page(URL, content))
}

async fn shown_capture_is_kept_when_it_is_replaced(db: Database) {
    let reader = new_organization(&db).await;
    let first = divided(page(URL, "the first version, which is stored in several parts"));
    let second = page(URL, "the second version");
    let doc_id = first.document.doc_id;
    save(&db, &first, NOW).await;
    show(&db, reader, &first, NOW).await;
    save(&db, &second, at(5)).await;

    let kept = read(&db, reader, doc_id, first.capture.capture_id).await.unwrap();
    assert_eq!(kept.stored.capture, first.capture);
    let first_part = first.capture.parts.as_ref().unwrap().start(1).passage;
    assert_eq!(kept.stored.passages, first.passages[..first_part]);
    assert_eq!(kept.superseded_at, Some(at(5)));
    assert_eq!(kept.visible.document.latest_capture_id, Some(second.capture.capture_id));
    let latest = kept.latest.unwrap();
    assert_eq!((latest.capture_id, latest.captured_at), (second.capture.capture_id, at(5)));
    assert_eq!(latest.content_digest, second.capture.content_digest);
    let latest = read(&db, reader, doc_id, second.capture.capture_id).await.unwrap();
    assert_eq!((latest.superseded_at, latest.stored.capture.content), (None, second.capture.content));
    assert!(db.read_capture(reader, doc_id, first.capture.capture_id, at(5), NOW).await.unwrap().is_none(), "too old");
    assert!(db.load_documents(model::Collection::Web, vec![doc_id]).await.unwrap().len() == 1);
}

async fn unseen_capture_is_deleted_when_it_is_replaced(db: Database) {
    let reader = new_organization(&db).await;
    let [shown, unseen, last] = versions(["shown", "seen by nobody", "the last"]);
    save(&db, &shown, NOW).await;
    show(&db, reader, &shown, NOW).await;
    save(&db, &unseen, at(1)).await;
    save(&db, &last, at(2)).await;
    let doc_id = last.document.doc_id;
    assert!(read(&db, reader, doc_id, unseen.capture.capture_id).await.is_none());
    assert!(read(&db, reader, doc_id, shown.capture.capture_id).await.is_some());
    assert_eq!(db.count("captures").await, 2);
}

async fn grant_follows_what_is_shown(db: Database) {
    let reader = new_organization(&db).await;
    let [first, second, third] = versions(["first", "second", "third"]);
    let shown = async |doc_id| {
        let (visible, _) = db.read_document(reader, doc_id).await.unwrap().unwrap();
        (visible.granted_at, visible.shown_capture_id)
    };
    let doc_id = first.document.doc_id;
    save(&db, &first, NOW).await;
    let unnamed = Grant { organization_id: reader, doc_id, granted_at: NOW, capture_id: None };
    db.grant_document(unnamed.clone()).await.unwrap();
    assert_eq!(shown(doc_id).await, (Some(NOW), None));
    show(&db, reader, &first, at(1)).await;
    assert_eq!(shown(doc_id).await, (Some(at(1)), Some(first.capture.capture_id)));
    show(&db, reader, &first, at(2)).await;
    db.grant_document(unnamed).await.unwrap();
    assert_eq!(shown(doc_id).await, (Some(at(1)), Some(first.capture.capture_id)), "nothing to write");
    for (new, time) in [(&second, 3), (&third, 5)] {
        save(&db, new, at(time)).await;
        show(&db, reader, new, at(time + 1)).await;
    }
    assert_eq!(shown(doc_id).await.1, Some(third.capture.capture_id));
    for new in [&first, &second, &third] {
        assert!(read(&db, reader, doc_id, new.capture.capture_id).await.is_some());
    }
}

async fn cited_capture_is_kept_until_its_time(db: Database) {
    let (reader, other) = (new_organization(&db).await, new_organization(&db).await);
    let [first, second] = versions(["cited", "the next"]);
    let own = workspace_document(reader, "a.md", "own file");
    save(&db, &first, NOW).await;
    save(&db, &own, NOW).await;
    let cited = vec![first.capture.capture_id, own.capture.capture_id, uuid::Uuid::nil().into()];
    db.keep_as_evidence(reader, cited.clone(), at(100)).await.unwrap();
    db.keep_as_evidence(reader, cited, at(50)).await.unwrap();
    db.keep_as_evidence(other, vec![own.capture.capture_id], at(900)).await.unwrap();
    assert_eq!(db.number("min(kept_until)", "captures").await, at(100).as_millis(), "never shortened");
    assert_eq!(db.number("max(kept_until)", "captures").await, at(100).as_millis(), "not by others");
    save(&db, &second, at(1)).await;
    let doc_id = first.document.doc_id;
    let read = async |now| db.read_capture(reader, doc_id, first.capture.capture_id, at(10), now).await.unwrap();
    assert!(read(at(99)).await.is_some() && read(at(100)).await.is_none());
    assert_eq!(db.prune_captures(at(10), at(99), 10).await.unwrap(), 0);
    assert_eq!(db.prune_captures(at(10), at(100), 10).await.unwrap(), 1);
    assert_eq!(db.count("captures").await, 2, "captures in use stay");
}

async fn kept_captures_expire(db: Database) {
    let reader = new_organization(&db).await;
    let contents = ["one", "two", "three", "four"];
    for (content, time) in contents.iter().zip(0..) {
        let new = page(URL, content);
        save(&db, &new, at(time)).await;
        show(&db, reader, &new, at(time)).await;
    }
    assert_eq!(db.count("captures WHERE superseded_at IS NOT NULL").await, 3);
    assert_eq!(db.prune_captures(at(0), at(9), 10).await.unwrap(), 0);
    assert_eq!(db.prune_captures(at(2), at(9), 1).await.unwrap(), 1);
    assert_eq!(db.number("min(superseded_at)", "captures").await, at(2).as_millis(), "the oldest first");
    assert_eq!(db.prune_captures(at(9), at(9), 10).await.unwrap(), 2);
    assert_eq!(db.prune_captures(at(9), at(9), 10).await.unwrap(), 0);
    assert_eq!((db.count("captures").await, db.count("documents").await), (1, 1));
}

fn reading(organization_id: OrganizationId, content: &str, time: Timestamp) -> NewPageRead {
    let mut new = page(URL, content);
    (new.document.first_seen_at, new.document.last_seen_at) = (time, time);
    new.document.last_crawled_at = Some(time);
    new.capture.captured_at = time;
    new.capture.organization_id = Some(organization_id);
    NewPageRead::new(organization_id, new)
}

async fn own_readings_are_kept(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let (first, second, other) = (reading(ours, "one", NOW), reading(ours, "two", at(1)), reading(theirs, "one", NOW));
    for read in [&first, &other, &second] {
        db.save_page_read(read.clone()).await.unwrap();
    }
    let doc_id = first.read.doc_id;
    let kept = read(&db, ours, doc_id, first.capture.capture_id).await.unwrap();
    assert_eq!((kept.stored.capture, kept.superseded_at), (first.capture.clone(), Some(at(1))));
    assert_eq!(kept.stored.passages, first.passages);
    assert!(read(&db, theirs, doc_id, first.capture.capture_id).await.is_none());
    assert!(read(&db, ours, doc_id, other.capture.capture_id).await.is_none());
    let stored = db.find_page_read(ours, doc_id).await.unwrap().unwrap().1;
    assert_eq!(stored, Some(second.capture));
    assert_eq!(db.prune_captures(at(1), at(1), 10).await.unwrap(), 1);
    while db.delete_tenant_rows(ours, 10).await.unwrap() > 0 {}
    assert_eq!(db.count("captures").await, 1);
}

async fn returning_content_takes_its_old_capture(db: Database) {
    let reader = new_organization(&db).await;
    let [first, second, again] = versions(["one", "two", "one"]);
    save(&db, &first, NOW).await;
    show(&db, reader, &first, NOW).await;
    save(&db, &second, at(1)).await;
    show(&db, reader, &second, at(1)).await;
    assert_eq!(save(&db, &again, at(2)).await, SaveOutcome::Stored);
    let doc_id = first.document.doc_id;
    let (visible, stored) = db.read_document(reader, doc_id).await.unwrap().unwrap();
    let stored = stored.unwrap();
    assert_eq!(visible.document.latest_capture_id, Some(first.capture.capture_id));
    assert_eq!((stored.capture.captured_at, stored.passages), (at(2), first.passages));
    assert!(read(&db, reader, doc_id, first.capture.capture_id).await.unwrap().superseded_at.is_none());
    assert!(read(&db, reader, doc_id, second.capture.capture_id).await.unwrap().superseded_at.is_some());

    let reads = ["three", "four", "three"].iter().zip(3..).map(|(content, time)| reading(reader, content, at(time)));
    let reads: Vec<NewPageRead> = reads.collect();
    for read in &reads {
        db.save_page_read(read.clone()).await.unwrap();
    }
    let (read, capture) = db.find_page_read(reader, doc_id).await.unwrap().unwrap();
    assert_eq!(read.latest_capture_id, Some(reads[0].capture.capture_id));
    assert_eq!(capture.unwrap().captured_at, at(5));
    assert_eq!(db.count("captures").await, 4);
    assert_eq!(db.prune_captures(at(9), at(9), 10).await.unwrap(), 2);
}

async fn kept_captures_are_those_of_readers(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let [one, two] = ["one", "two"].map(|content| workspace_document(ours, "a.md", content));
    save(&db, &one, NOW).await;
    show(&db, ours, &one, NOW).await;
    save(&db, &two, at(1)).await;
    let doc_id = one.document.doc_id;
    assert!(read(&db, ours, doc_id, one.capture.capture_id).await.is_some());
    assert!(read(&db, theirs, doc_id, one.capture.capture_id).await.is_none());
    let other = page("https://example.org/", "another");
    save(&db, &other, NOW).await;
    assert!(read(&db, ours, other.document.doc_id, one.capture.capture_id).await.is_none(), "of another document");
    assert!(read(&db, ours, doc_id, other.capture.capture_id).await.is_none());

    // A page that only organizations read: what was shared of it is nobody's any more.
    let [shared, newer] = versions(["shared", "newer"]);
    save(&db, &shared, NOW).await;
    show(&db, ours, &shared, NOW).await;
    save(&db, &newer, at(1)).await;
    db.execute(&format!("UPDATE documents SET removed_at = {} WHERE canonical_url = '{URL}'", at(2).as_millis())).await;
    let doc_id = shared.document.doc_id;
    let new = NewPage { organization_id: ours, doc_id, canonical_url: URL.to_owned(), source_url: URL.to_owned() };
    db.register_page(new, at(3)).await.unwrap();
    assert!(db.read_document(ours, doc_id).await.unwrap().is_some());
    assert!(read(&db, ours, doc_id, shared.capture.capture_id).await.is_none());
    assert!(read(&db, ours, doc_id, newer.capture.capture_id).await.is_none());
}

async fn removed_document_takes_its_kept_captures_along(db: Database) {
    let reader = new_organization(&db).await;
    let file = |content: &str, time| {
        let mut new = workspace_document(reader, "a.md", content);
        new.capture.captured_at = time;
        new
    };
    let [one, two, three] = [file("one", NOW), file("two", at(1)), file("three", at(5))];
    let doc_id = one.document.doc_id;
    for new in [&one, &two] {
        db.save_documents(vec![new.clone()], new.capture.captured_at).await.unwrap();
        show(&db, reader, new, at(1)).await;
        db.keep_as_evidence(reader, vec![new.capture.capture_id], at(900)).await.unwrap();
    }
    db.hide_workspace_document(reader, doc_id, at(2)).await.unwrap();
    for new in [&one, &two] {
        assert!(read(&db, reader, doc_id, new.capture.capture_id).await.is_none());
    }
    // Uploaded again under its name before the rows are purged.
    db.save_documents(vec![three.clone()], at(6)).await.unwrap();
    assert!(read(&db, reader, doc_id, three.capture.capture_id).await.is_some());
    assert_eq!(db.count("captures").await, 1);

    show(&db, reader, &three, at(7)).await;
    db.save_documents(vec![file("four", at(8))], at(8)).await.unwrap();
    assert_eq!(db.count("captures").await, 2);
    assert_eq!(db.purge_workspace(reader, 10, at(9)).await.unwrap(), 1);
    assert_eq!((db.count("captures").await, db.count("passages").await), (0, 0));
}
