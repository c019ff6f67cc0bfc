//! Pages that organizations read by URL, apart from the shared web.

use docstore::{Feedback, Grant, NewDocument, NewPage, NewPageRead, PageRead, VisibleDocument};
use model::{CaptureFormat, Collection, DocId, IndexName, OrganizationId, Timestamp};

use crate::support::{Database, NOW, at, documents_in, new_feedback, new_organization, page, workspace_document};

on_both_backends!(
    page_is_known_to_its_readers_only,
    readers_have_captures_of_their_own,
    own_content_is_seen_where_it_is_newer,
    saving_the_shared_document_keeps_readings,
    listing_a_page_starts_its_own_times,
    reread_content_keeps_its_capture,
    changed_content_replaces_only_the_own_capture,
    confirmed_reading_updates_times,
    replaced_reading_is_not_confirmed,
    stale_mark_is_the_organizations_own,
    removed_page_is_unknown_until_it_is_looked_up_again,
    long_urls_are_registered,
    page_without_a_reader_is_deleted,
    snippets_belong_to_the_organization_that_searched,
    snippets_do_not_replace_whole_pages,
    snippet_listed_again_does_not_hide_a_whole_page,
    whole_listed_page_is_seen_before_a_newer_snippet,
    unchanged_snippet_keeps_its_capture,
    snippet_of_a_removed_page_is_a_new_reading,
    snippets_of_several_pages_are_stored_together,
);

const URL: &str = "https://example.com/";

fn new_page(organization_id: OrganizationId, url: &str) -> NewPage {
    let doc_id = page(url, "").document.doc_id;
    NewPage { organization_id, doc_id, canonical_url: url.to_owned(), source_url: format!("{url}?utm_source=x") }
}

/// Returns content of [`URL`] that the organization read at a time.
fn reading(organization_id: OrganizationId, content: &str, time: Timestamp) -> NewPageRead {
    let NewDocument { document, mut capture, passages, parts } = page(URL, content);
    capture.captured_at = time;
    capture.organization_id = Some(organization_id);
    let read = PageRead {
        organization_id,
        doc_id: document.doc_id,
        source_url: "https://example.com/given".to_owned(),
        title: Some(content.to_owned()),
        description: None,
        mime: Some("text/plain".to_owned()),
        language: None,
        labels: Default::default(),
        published_at: None,
        first_seen_at: time,
        last_seen_at: time,
        last_crawled_at: Some(time),
        stale_at: None,
        latest_capture_id: Some(capture.capture_id),
    };
    NewPageRead { canonical_url: URL.to_owned(), read, capture, passages, parts }
}

async fn find(db: &Database, organization_id: OrganizationId, doc_id: DocId) -> Option<VisibleDocument> {
    db.read_document(organization_id, doc_id).await.unwrap().map(|(visible, _)| visible)
}

async fn content(db: &Database, organization_id: OrganizationId, doc_id: DocId) -> Option<String> {
    let stored = db.read_document(organization_id, doc_id).await.unwrap().and_then(|(_, stored)| stored)?;
    let passages: String = stored
        .passages
        .iter()
        .map(|passage| &stored.capture.content[passage.byte_start as usize..passage.byte_end as usize])
        .collect();
    assert_eq!(passages, stored.capture.content, "the passages are those of the capture");
    Some(stored.capture.content)
}

async fn page_is_known_to_its_readers_only(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let new = new_page(ours, URL);
    db.register_page(new.clone(), at(3)).await.unwrap();
    db.register_page(new.clone(), at(9)).await.unwrap();
    let found = find(&db, ours, new.doc_id).await.unwrap().document;
    assert_eq!((found.canonical_url.as_str(), found.source_url), (URL, new.source_url));
    assert_eq!((found.first_seen_at, found.last_seen_at, found.listed), (at(3), at(3), false));
    assert_eq!(db.find_granted_document(ours, new.doc_id).await.unwrap().unwrap().document.first_seen_at, at(3));
    assert_eq!(content(&db, ours, new.doc_id).await, None);

    // Not even a grant, which should never be written, shows the row that the page has for all.
    db.grant_document(Grant { organization_id: theirs, doc_id: new.doc_id, granted_at: NOW, capture_id: None })
        .await
        .unwrap();
    assert_eq!(find(&db, theirs, new.doc_id).await, None);
    assert_eq!(db.find_granted_document(theirs, new.doc_id).await.unwrap(), None);
    db.register_page(new_page(theirs, URL), at(20)).await.unwrap();
    assert_eq!(find(&db, theirs, new.doc_id).await.unwrap().document.first_seen_at, at(20));

    assert_eq!(db.count("outbox").await, 0);
    assert!(db.load_documents(Collection::Web, vec![new.doc_id]).await.unwrap().is_empty());
    assert!(db.list_indexable_documents(IndexName::Web, None, 10).await.unwrap().is_empty());
    assert!(db.list_documents_without_capture(10).await.unwrap().is_empty(), "nothing is missing");
}

async fn readers_have_captures_of_their_own(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let (our_read, their_read) = (reading(ours, "the same content", NOW), reading(theirs, "the same content", at(5)));
    let doc_id = our_read.read.doc_id;
    assert_eq!(our_read.passages[0].passage_id, their_read.passages[0].passage_id);
    db.save_page_read(our_read.clone()).await.unwrap();
    db.save_long_page_read(their_read.clone()).await.unwrap();
    for (organization_id, own) in [(ours, our_read), (theirs, their_read)] {
        let (read, capture) = db.find_page_read(organization_id, doc_id).await.unwrap().unwrap();
        assert_eq!((read, capture), (own.read, Some(own.capture)));
        assert_eq!(content(&db, organization_id, doc_id).await.as_deref(), Some("the same content"));
    }
    assert_eq!((db.count("captures").await, db.count("passages").await), (2, 4));
    assert!(db.load_for_indexing(vec![doc_id]).await.unwrap().is_empty());

    let id = if db.is_sqlite() { format!("x'{}'", ours.0.simple()) } else { format!("'{ours}'") };
    db.execute(&format!("DELETE FROM organizations WHERE id = {id}")).await;
    assert_eq!((db.count("captures").await, db.count("page_reads").await), (1, 1));
    assert_eq!(content(&db, theirs, doc_id).await.as_deref(), Some("the same content"));
}

async fn own_content_is_seen_where_it_is_newer(db: Database) {
    let (reader, other) = (new_organization(&db).await, new_organization(&db).await);
    let mut shared = page(URL, "the listed content");
    shared.document.title = Some("Listed".to_owned());
    let doc_id = shared.document.doc_id;
    db.save_documents(vec![shared.clone()], NOW).await.unwrap();
    db.save_page_read(reading(reader, "the content read", at(5))).await.unwrap();
    assert_eq!(content(&db, reader, doc_id).await.as_deref(), Some("the content read"));
    let seen = find(&db, reader, doc_id).await.unwrap().document;
    assert_eq!((seen.title.as_deref(), seen.source_url), (Some("the content read"), shared.document.source_url));
    assert_eq!((seen.first_seen_at, seen.last_seen_at, seen.listed), (NOW, at(5), true));
    assert_eq!(content(&db, other, doc_id).await.as_deref(), Some("the listed content"));
    assert_eq!(find(&db, other, doc_id).await.unwrap().document.last_seen_at, NOW);

    let mut newer = page(URL, "the content listed later");
    newer.capture.captured_at = at(9);
    db.save_documents(vec![newer], at(9)).await.unwrap();
    for organization_id in [reader, other] {
        assert_eq!(content(&db, organization_id, doc_id).await.as_deref(), Some("the content listed later"));
    }
}

async fn saving_the_shared_document_keeps_readings(db: Database) {
    let reader = new_organization(&db).await;
    let shared = page(URL, "the listed content");
    let doc_id = shared.document.doc_id;
    db.save_documents(vec![shared], NOW).await.unwrap();
    db.execute("DELETE FROM outbox").await;
    let own = reading(reader, "the content read", at(5));
    db.save_page_read(own.clone()).await.unwrap();
    let loaded = db.load_documents(Collection::Web, vec![doc_id]).await.unwrap().remove(0);
    assert_eq!((loaded.capture.content.as_str(), loaded.document.last_seen_at), ("the listed content", NOW));
    assert_eq!(db.count("outbox").await, 0, "a reading changes no index");

    db.save_documents(vec![page(URL, "another listed content")], at(1)).await.unwrap();
    let (_, capture) = db.find_page_read(reader, doc_id).await.unwrap().unwrap();
    assert_eq!(capture, Some(own.capture));
    assert_eq!(content(&db, reader, doc_id).await.as_deref(), Some("the content read"));
    assert_eq!(db.count("captures").await, 2, "the replaced one is deleted");
}

async fn listing_a_page_starts_its_own_times(db: Database) {
    let (reader, other) = (new_organization(&db).await, new_organization(&db).await);
    db.save_page_read(reading(reader, "the content read", at(-500))).await.unwrap();
    let new = page(URL, "the listed content");
    let doc_id = new.document.doc_id;
    db.save_documents(vec![new.clone()], NOW).await.unwrap();
    assert_eq!(documents_in(&db.pending_outbox(IndexName::Web, 10).await.unwrap().entries), [doc_id]);
    let seen = find(&db, other, doc_id).await.unwrap().document;
    assert_eq!((seen.first_seen_at, seen.last_seen_at, seen.title), (NOW, NOW, new.document.title));
    assert_eq!(find(&db, reader, doc_id).await.unwrap().document.first_seen_at, at(-500));
}

async fn reread_content_keeps_its_capture(db: Database) {
    let reader = new_organization(&db).await;
    let mut first = reading(reader, "the same", NOW);
    first.capture.etag = Some("\"1\"".to_owned());
    db.register_page(new_page(reader, URL), at(-7)).await.unwrap();
    db.save_page_read(first.clone()).await.unwrap();
    let mut again = reading(reader, "the same", at(5));
    again.capture.etag = Some("\"2\"".to_owned());
    db.save_page_read(again.clone()).await.unwrap();
    let (read, capture) = db.find_page_read(reader, first.read.doc_id).await.unwrap().unwrap();
    let capture = capture.unwrap();
    assert_eq!((capture.capture_id, capture.captured_at), (first.capture.capture_id, at(5)));
    assert_eq!(capture.etag, again.capture.etag);
    assert_eq!((read.first_seen_at, read.last_seen_at, read.last_crawled_at), (at(-7), at(5), Some(at(5))));
    assert_eq!(read.source_url, format!("{URL}?utm_source=x"), "the address of the first lookup");
    assert_eq!(db.count("captures").await, 1);
}

async fn changed_content_replaces_only_the_own_capture(db: Database) {
    let (reader, other) = (new_organization(&db).await, new_organization(&db).await);
    for organization_id in [reader, other] {
        db.save_page_read(reading(organization_id, "the first edition", NOW)).await.unwrap();
    }
    let second = reading(reader, "the second edition", at(5));
    let doc_id = second.read.doc_id;
    db.save_page_read(second).await.unwrap();
    assert_eq!(content(&db, reader, doc_id).await.as_deref(), Some("the second edition"));
    assert_eq!(content(&db, other, doc_id).await.as_deref(), Some("the first edition"));
    assert_eq!(db.count("captures WHERE superseded_at IS NULL").await, 2);
}

async fn confirmed_reading_updates_times(db: Database) {
    let (reader, other) = (new_organization(&db).await, new_organization(&db).await);
    let new = reading(reader, "the same", NOW);
    let (doc_id, capture_id) = (new.read.doc_id, new.capture.capture_id);
    db.save_page_read(new).await.unwrap();
    db.confirm_page_read(other, doc_id, capture_id, at(3)).await.unwrap();
    assert_eq!(db.find_page_read(reader, doc_id).await.unwrap().unwrap().1.unwrap().captured_at, NOW);
    db.confirm_page_read(reader, doc_id, capture_id, at(7)).await.unwrap();
    let (read, capture) = db.find_page_read(reader, doc_id).await.unwrap().unwrap();
    assert_eq!((read.first_seen_at, read.last_seen_at, read.last_crawled_at), (NOW, at(7), Some(at(7))));
    assert_eq!(capture.unwrap().captured_at, at(7));
}

async fn replaced_reading_is_not_confirmed(db: Database) {
    let reader = new_organization(&db).await;
    let old = reading(reader, "old", NOW);
    db.save_page_read(old.clone()).await.unwrap();
    db.save_page_read(reading(reader, "new", at(1))).await.unwrap();
    db.confirm_page_read(reader, old.read.doc_id, old.capture.capture_id, at(7)).await.unwrap();
    let (read, capture) = db.find_page_read(reader, old.read.doc_id).await.unwrap().unwrap();
    assert_eq!((read.last_seen_at, capture.unwrap().captured_at), (at(1), at(1)));
}

async fn stale_mark_is_the_organizations_own(db: Database) {
    let (granted, stranger) = (new_organization(&db).await, new_organization(&db).await);
    let web = page(URL, "a page");
    let own = workspace_document(granted, "a.md", "a file");
    db.save_documents(vec![web.clone(), own.clone()], NOW).await.unwrap();
    for doc_id in [web.document.doc_id, own.document.doc_id] {
        db.grant_document(Grant { organization_id: granted, doc_id, granted_at: NOW, capture_id: None }).await.unwrap();
    }
    let report = async |organization_id, new: &NewDocument, time| {
        let event = Feedback { created_at: time, ..new_feedback(organization_id) };
        db.record_feedback(event, Some(new.document.doc_id)).await.unwrap();
    };
    report(stranger, &web, at(1)).await;
    for new in [&web, &own] {
        report(granted, new, at(2)).await;
    }
    let stale_at = async |organization_id, new: &NewDocument| {
        find(&db, organization_id, new.document.doc_id).await.unwrap().stale_at
    };
    assert_eq!(stale_at(granted, &web).await, Some(at(2)));
    assert_eq!(stale_at(granted, &own).await, None);
    assert_eq!(stale_at(stranger, &web).await, None);
    let seen = find(&db, granted, web.document.doc_id).await.unwrap().document;
    assert_eq!((seen.first_seen_at, seen.last_seen_at), (NOW, NOW), "a report is no sighting");
    db.save_page_read(reading(granted, "read again", at(3))).await.unwrap();
    assert_eq!(stale_at(granted, &web).await, Some(at(2)), "saving keeps `stale_at`");
}

async fn removed_page_is_unknown_until_it_is_looked_up_again(db: Database) {
    let reader = new_organization(&db).await;
    let shared = page(URL, "the listed content");
    let doc_id = shared.document.doc_id;
    db.save_documents(vec![shared], NOW).await.unwrap();
    db.save_page_read(reading(reader, "the content read", at(5))).await.unwrap();
    db.grant_document(Grant { organization_id: reader, doc_id, granted_at: NOW, capture_id: None }).await.unwrap();
    db.execute(&format!("UPDATE documents SET removed_at = {}", at(10).as_millis())).await;
    assert_eq!(find(&db, reader, doc_id).await, None);
    assert_eq!(db.find_granted_document(reader, doc_id).await.unwrap(), None);
    assert_eq!(content(&db, reader, doc_id).await, None);

    db.register_page(new_page(reader, URL), at(20)).await.unwrap();
    let seen = find(&db, reader, doc_id).await.unwrap().document;
    assert_eq!((seen.first_seen_at, seen.listed, seen.title), (at(20), false, None));
    assert_eq!(content(&db, reader, doc_id).await, None, "the content of before is gone");
}

async fn long_urls_are_registered(db: Database) {
    let reader = new_organization(&db).await;
    // Random, so that no compression makes them short.
    let long: String = (0..220).map(|_| uuid::Uuid::new_v4().simple().to_string()).collect();
    let new = new_page(reader, &format!("{URL}{long}"));
    db.register_page(new.clone(), NOW).await.unwrap();
    assert!(find(&db, reader, new.doc_id).await.is_some());
}

async fn page_without_a_reader_is_deleted(db: Database) {
    let (reader, leaver) = (new_organization(&db).await, new_organization(&db).await);
    db.save_documents(vec![page("https://example.com/listed", "a page")], NOW).await.unwrap();
    for (organization_id, url) in [(reader, URL), (leaver, URL), (leaver, "https://example.com/secret")] {
        db.register_page(new_page(organization_id, url), NOW).await.unwrap();
    }
    while db.delete_tenant_rows(leaver, 1).await.unwrap() > 0 {}
    assert_eq!(db.count("documents").await, 2);
    assert!(find(&db, reader, new_page(reader, URL).doc_id).await.is_some());
}

/// Returns a snippet of [`URL`] that the organization found at a time.
fn snippet(organization_id: OrganizationId, text: &str, time: Timestamp) -> NewPageRead {
    let mut new = reading(organization_id, text, time);
    new.capture.format = CaptureFormat::Text;
    new.read.last_crawled_at = None;
    new
}

/// Returns the contents that [`URL`]'s own reading has.
async fn own(db: &Database, organization_id: OrganizationId, doc_id: DocId) -> Vec<String> {
    let loaded = db.load_page_reads(organization_id, vec![doc_id]).await.unwrap();
    loaded.into_iter().map(|loaded| loaded.capture.content).collect()
}

async fn snippets_belong_to_the_organization_that_searched(db: Database) {
    let (one, other) = (new_organization(&db).await, new_organization(&db).await);
    let new = snippet(one, "A text.", NOW);
    let doc_id = new.read.doc_id;
    let passages = new.passages.clone();
    let saved = db.save_snippets(one, vec![new.clone(), new.clone()]).await.unwrap();
    assert_eq!(saved, [(doc_id, new.capture.capture_id)]);
    let loaded = db.load_page_reads(one, vec![doc_id]).await.unwrap();
    assert_eq!((loaded[0].capture.format, loaded[0].document.listed), (CaptureFormat::Text, false));
    assert_eq!((loaded[0].document.title.as_deref(), &loaded[0].passages), (Some("A text."), &passages));
    assert_eq!(own(&db, other, doc_id).await, Vec::<String>::new());
    assert_eq!(find(&db, other, doc_id).await, None);
    // The argument decides, not the row.
    db.save_snippets(other, vec![snippet(one, "Another text.", NOW)]).await.unwrap();
    assert_eq!(
        (own(&db, one, doc_id).await, own(&db, other, doc_id).await),
        (vec!["A text.".to_owned()], vec!["Another text.".to_owned()])
    );
}

async fn snippets_do_not_replace_whole_pages(db: Database) {
    let (one, other) = (new_organization(&db).await, new_organization(&db).await);
    let whole = reading(one, "The whole page.", NOW);
    let doc_id = whole.read.doc_id;
    db.save_page_read(whole).await.unwrap();
    assert_eq!(db.save_snippets(one, vec![snippet(one, "A text.", at(1))]).await.unwrap(), []);
    assert_eq!(own(&db, one, doc_id).await, ["The whole page."]);
    assert_eq!(
        db.save_snippets(other, vec![snippet(other, "A text.", at(1))]).await.unwrap().len(),
        1,
        "a reading of another organization"
    );
    db.save_documents(vec![page(URL, "The listed page.")], at(2)).await.unwrap();
    assert_eq!(db.save_snippets(other, vec![snippet(other, "A newer text.", at(3))]).await.unwrap(), []);
    assert_eq!(own(&db, other, doc_id).await, ["A text."]);
}

async fn snippet_listed_again_does_not_hide_a_whole_page(db: Database) {
    let (reader, other) = (new_organization(&db).await, new_organization(&db).await);
    let mut listed = page(URL, "A text.");
    listed.capture.format = CaptureFormat::Text;
    let doc_id = listed.document.doc_id;
    db.save_documents(vec![listed.clone()], NOW).await.unwrap();
    let whole = reading(reader, "The whole page.", at(5));
    db.save_page_read(whole.clone()).await.unwrap();
    listed.capture.captured_at = at(9);
    db.save_documents(vec![listed], at(9)).await.unwrap();
    let seen = find(&db, reader, doc_id).await.unwrap().document;
    assert_eq!(seen.latest_capture_id, Some(whole.capture.capture_id));
    assert_eq!(content(&db, reader, doc_id).await.as_deref(), Some("The whole page."));
    assert_eq!(content(&db, other, doc_id).await.as_deref(), Some("A text."));

    let mut newer = page(URL, "The listed page.");
    newer.capture.captured_at = at(11);
    db.save_documents(vec![newer], at(11)).await.unwrap();
    assert_eq!(content(&db, reader, doc_id).await.as_deref(), Some("The listed page."));
}

async fn whole_listed_page_is_seen_before_a_newer_snippet(db: Database) {
    let reader = new_organization(&db).await;
    let doc_id = page(URL, "").document.doc_id;
    db.save_snippets(reader, vec![snippet(reader, "A text.", at(5))]).await.unwrap();
    db.save_documents(vec![page(URL, "The listed page.")], NOW).await.unwrap();
    assert_eq!(content(&db, reader, doc_id).await.as_deref(), Some("The listed page."));
}

async fn unchanged_snippet_keeps_its_capture(db: Database) {
    let one = new_organization(&db).await;
    let first = snippet(one, "A text.", NOW);
    let (doc_id, capture_id) = (first.read.doc_id, first.capture.capture_id);
    db.save_snippets(one, vec![first]).await.unwrap();
    let again = db.save_snippets(one, vec![snippet(one, "A text.", at(1))]).await.unwrap();
    assert_eq!(again, [(doc_id, capture_id)]);
    assert_eq!(db.load_page_reads(one, vec![doc_id]).await.unwrap()[0].capture.captured_at, at(1));
    let changed = snippet(one, "Another text.", at(2));
    let new_id = changed.capture.capture_id;
    assert_eq!(db.save_snippets(one, vec![changed]).await.unwrap(), [(doc_id, new_id)]);
}

async fn snippet_of_a_removed_page_is_a_new_reading(db: Database) {
    let one = new_organization(&db).await;
    let doc_id = page(URL, "").document.doc_id;
    db.save_snippets(one, vec![snippet(one, "A text.", NOW)]).await.unwrap();
    db.save_documents(vec![page(URL, "The listed page.")], NOW).await.unwrap();
    db.execute(&format!("UPDATE documents SET removed_at = {}", at(5).as_millis())).await;
    assert_eq!(own(&db, one, doc_id).await, Vec::<String>::new(), "from before the removal");
    assert_eq!(db.save_snippets(one, vec![snippet(one, "A text.", at(6))]).await.unwrap().len(), 1);
    assert_eq!(own(&db, one, doc_id).await, ["A text."]);
}

async fn snippets_of_several_pages_are_stored_together(db: Database) {
    let one = new_organization(&db).await;
    let at_path = |mut new: NewPageRead, path: &str| {
        new.canonical_url = format!("{URL}{path}");
        let doc_id = page(&new.canonical_url, "").document.doc_id;
        (new.read.doc_id, new.capture.doc_id) = (doc_id, doc_id);
        new.passages.iter_mut().for_each(|passage| passage.doc_id = doc_id);
        new
    };
    let [unchanged, changed] = ["unchanged", "changed"].map(|path| at_path(snippet(one, "A text.", NOW), path));
    let whole = at_path(reading(one, "The whole page.", NOW), "whole");
    db.save_page_read(whole.clone()).await.unwrap();
    db.save_snippets(one, vec![unchanged.clone(), changed.clone()]).await.unwrap();

    let new = ["new", "unchanged", "whole"].map(|path| at_path(snippet(one, "A text.", at(5)), path));
    let other = at_path(snippet(one, "Another text.", at(5)), "changed");
    let mut expected = vec![
        (new[0].read.doc_id, new[0].capture.capture_id),
        (unchanged.read.doc_id, unchanged.capture.capture_id),
        (other.read.doc_id, other.capture.capture_id),
    ];
    expected.sort_unstable_by_key(|(doc_id, _)| *doc_id);
    let mut all = new.to_vec();
    all.push(other);
    assert_eq!(db.save_snippets(one, all).await.unwrap(), expected);
    for (stored, text, seen) in [
        (&new[0], "A text.", at(5)),
        (&unchanged, "A text.", at(5)),
        (&changed, "Another text.", at(5)),
        (&whole, "The whole page.", NOW),
    ] {
        let doc_id = stored.read.doc_id;
        assert_eq!(content(&db, one, doc_id).await.as_deref(), Some(text));
        let (read, capture) = db.find_page_read(one, doc_id).await.unwrap().unwrap();
        assert_eq!((read.last_seen_at, capture.unwrap().captured_at), (seen, seen));
    }
    assert_eq!(db.count("captures").await, 5, "the replaced text is kept");
    assert_eq!(db.count("captures WHERE superseded_at IS NULL").await, 4);
}
