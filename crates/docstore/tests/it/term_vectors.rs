//! Term vectors: which count for ranking, and when they go.

use docstore::{DocumentState, DocumentToRank, KeyedTerms, NewDocument, StoredTermVector, TermVectorState};
use model::{CaptureFormat, Collection, DocId, OrganizationId};
use uuid::Uuid;

use crate::support::{Database, NOW, divided, new_organization, page, workspace_document};

on_both_backends!(
    documents_are_loaded_for_ranking_per_collection,
    vectors_of_another_version_or_capture_do_not_count,
    stored_vector_replaces_the_earlier_one,
    vectors_of_deleted_documents_are_skipped,
    purged_document_loses_its_vector,
    leading_passages_are_listed_up_to_a_limit,
);

const VERSION: i32 = 3;

/// Returns a vector for the capture of the document.
pub fn term_vector(new: &NewDocument, terms: &[u8]) -> StoredTermVector {
    StoredTermVector {
        doc_id: new.document.doc_id,
        capture_id: new.capture.capture_id,
        version: VERSION,
        text_key: -7,
        terms: terms.to_vec(),
    }
}

async fn save(db: &Database, new: &NewDocument) {
    db.save_documents(vec![new.clone()], NOW).await.unwrap();
}

async fn load(db: &Database, collection: Collection, new: &[&NewDocument]) -> Vec<DocumentToRank> {
    let doc_ids = new.iter().map(|new| new.document.doc_id).collect();
    let mut loaded = db.load_for_ranking(collection, doc_ids, VERSION).await.unwrap();
    loaded.sort_by_key(|found| found.state.doc_id);
    loaded
}

/// Returns the stored bytes that count for a page.
async fn terms_of(db: &Database, new: &NewDocument) -> Option<Vec<u8>> {
    let loaded = load(db, Collection::Web, &[new]).await.remove(0);
    loaded.terms.map(|stored| stored.terms)
}

fn to_rank(new: &NewDocument, terms: Option<&[u8]>) -> DocumentToRank {
    let NewDocument { document, capture, .. } = new.clone();
    DocumentToRank {
        state: DocumentState {
            doc_id: document.doc_id,
            capture_id: capture.capture_id,
            last_seen_at: document.last_seen_at,
        },
        canonical_url: document.canonical_url,
        title: document.title,
        description: document.description,
        language: document.language,
        published_at: document.published_at,
        format: CaptureFormat::Markdown,
        content_digest: capture.content_digest,
        terms: terms.map(|terms| KeyedTerms { text_key: -7, terms: terms.to_vec() }),
    }
}

async fn documents_are_loaded_for_ranking_per_collection(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let web = page("https://example.com/", "a page");
    let mut bare = divided(page("https://example.com/bare", "a page that is stored in two parts"));
    (bare.document.title, bare.document.description, bare.document.language) = (None, None, None);
    let own = workspace_document(ours, "a.md", "our file");
    let removed = workspace_document(ours, "b.md", "our removed file");
    let foreign = workspace_document(theirs, "a.md", "their file");
    let all = [&web, &bare, &own, &removed, &foreign];
    for new in all {
        save(&db, new).await;
    }
    let vectors = [&web, &own, &foreign, &removed].map(|new| term_vector(new, new.document.doc_id.0.as_bytes()));
    db.store_term_vectors(vectors.to_vec()).await.unwrap();
    db.hide_workspace_document(ours, removed.document.doc_id, NOW).await.unwrap();

    let with_terms = |new: &NewDocument| to_rank(new, Some(new.document.doc_id.0.as_bytes()));
    let mut of_web = vec![with_terms(&web), to_rank(&bare, None)];
    of_web.sort_by_key(|found| found.state.doc_id);
    assert_eq!(load(&db, Collection::Web, &all).await, of_web);
    assert_eq!(load(&db, Collection::Workspace(ours), &all).await, [with_terms(&own)]);
    assert_eq!(load(&db, Collection::Workspace(theirs), &all).await, [with_terms(&foreign)]);
    assert_eq!(load(&db, Collection::Workspace(OrganizationId(Uuid::new_v4())), &all).await, []);
    assert_eq!(load(&db, Collection::Web, &[]).await, []);
}

async fn vectors_of_another_version_or_capture_do_not_count(db: Database) {
    let old = page("https://example.com/", "a page");
    save(&db, &old).await;
    db.store_term_vectors(vec![term_vector(&old, b"old")]).await.unwrap();
    assert_eq!(terms_of(&db, &old).await.as_deref(), Some(&b"old"[..]));
    let other = db.load_for_ranking(Collection::Web, vec![old.document.doc_id], VERSION + 1).await.unwrap();
    assert_eq!(other[0].terms, None);

    let new = page("https://example.com/", "a changed page");
    save(&db, &new).await;
    assert_eq!(load(&db, Collection::Web, &[&new]).await, [to_rank(&new, None)]);
    // A writer that is late does not replace the vector of the new content.
    db.store_term_vectors(vec![term_vector(&new, b"new")]).await.unwrap();
    db.store_term_vectors(vec![term_vector(&old, b"late")]).await.unwrap();
    assert_eq!(terms_of(&db, &new).await.as_deref(), Some(&b"new"[..]));
}

async fn stored_vector_replaces_the_earlier_one(db: Database) {
    let pages: Vec<NewDocument> = (0..5).map(|number| page(&format!("https://{number}.example/"), "a page")).collect();
    for new in &pages {
        save(&db, new).await;
    }
    for terms in [b"one", b"two"] {
        let mut batch: Vec<StoredTermVector> = pages.iter().map(|new| term_vector(new, terms)).collect();
        batch[0].version = if terms == b"one" { VERSION - 1 } else { VERSION };
        db.store_term_vectors(batch).await.unwrap();
    }
    for new in &pages {
        assert_eq!(terms_of(&db, new).await.as_deref(), Some(&b"two"[..]));
    }
    assert_eq!(db.count("term_vectors").await, 5);
    let doc_ids: Vec<DocId> = pages.iter().map(|new| new.document.doc_id).collect();
    let states = db.find_term_vector_states(doc_ids[..2].to_vec(), VERSION).await.unwrap();
    assert_eq!(states.len(), 2);
    let expected = TermVectorState { doc_id: doc_ids[0], capture_id: pages[0].capture.capture_id, text_key: -7 };
    assert!(states.contains(&expected), "{states:?}");
    assert_eq!(db.find_term_vector_states(doc_ids, VERSION + 1).await.unwrap(), []);
}

async fn vectors_of_deleted_documents_are_skipped(db: Database) {
    let (known, unknown) = (page("https://example.com/", "a page"), page("https://example.com/gone", "a page"));
    save(&db, &known).await;
    let batch = [&known, &unknown].map(|new| term_vector(new, b"terms"));
    db.store_term_vectors(batch.to_vec()).await.unwrap();
    db.store_term_vectors(Vec::new()).await.unwrap();
    assert_eq!(db.count("term_vectors").await, 1);
}

async fn purged_document_loses_its_vector(db: Database) {
    let organization_id = new_organization(&db).await;
    let own = workspace_document(organization_id, "a.md", "a file");
    save(&db, &own).await;
    db.store_term_vectors(vec![term_vector(&own, b"terms")]).await.unwrap();
    assert_eq!(db.count("term_vectors").await, 1);
    db.purge_workspace(organization_id, 10, NOW).await.unwrap();
    assert_eq!(db.count("term_vectors").await, 0);
}

async fn leading_passages_are_listed_up_to_a_limit(db: Database) {
    let pages = ["https://a.example/", "https://b.example/", "https://c.example/"]
        .map(|url| page(url, "a page with text for four passages"));
    for new in &pages {
        save(&db, new).await;
    }
    let [one, other, _] = &pages;
    let wanted = vec![(one.capture.capture_id, usize::MAX), (other.capture.capture_id, 2)];
    let listed = db.list_leading_passages(wanted).await.unwrap();
    let of = |new: &NewDocument| -> Vec<_> {
        listed.iter().filter(|passage| passage.capture_id == new.capture.capture_id).cloned().collect()
    };
    assert_eq!((of(one), of(other)), (one.passages.clone(), other.passages[..2].to_vec()));
    assert_eq!(listed.len(), one.passages.len() + 2);
    assert_eq!(db.list_leading_passages(Vec::new()).await.unwrap(), []);
}
