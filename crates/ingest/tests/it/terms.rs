//! Term vectors that the feeder stores.

use std::sync::Arc;

use docstore::{NewDocument, StoredTermVector};
use ingest::terms;
use model::{Clock, Collection, DocId, IndexName};
use retrieval_core::url;

use crate::embedding::document;
use crate::world::World;

fn file(world: &World, name: &str, markdown: &str, title: Option<&str>) -> NewDocument {
    let url = url::workspace_url(world.organization_id, name);
    document(Collection::Workspace(world.organization_id), url, markdown, title, world)
}

async fn save(world: &World, documents: Vec<NewDocument>) -> Vec<DocId> {
    let doc_ids = documents.iter().map(|new| new.document.doc_id).collect();
    world.store.save_documents(documents, world.clock.now()).await.unwrap();
    doc_ids
}

/// Returns the stored vectors of files that count, in the order of their ids.
async fn stored(world: &World, doc_ids: &[DocId]) -> Vec<StoredTermVector> {
    let collection = Collection::Workspace(world.organization_id);
    let mut found = world.store.load_for_ranking(collection, doc_ids.to_vec(), terms::VERSION).await.unwrap();
    found.sort_by_key(|found| doc_ids.iter().position(|doc_id| *doc_id == found.state.doc_id));
    let rows = found.into_iter().filter(|found| terms::decode(found).is_some()).map(|found| {
        let stored = found.terms.unwrap();
        StoredTermVector {
            doc_id: found.state.doc_id,
            capture_id: found.state.capture_id,
            version: terms::VERSION,
            text_key: stored.text_key,
            terms: stored.terms,
        }
    });
    rows.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_state_of_a_document_is_analysed_once() {
    let world = World::new().await;
    let files = (0..150).map(|number| file(&world, &format!("{number}.md"), &format!("walrus number {number}"), None));
    let doc_ids = save(&world, files.collect()).await;
    world.feeder.drain_all().await.unwrap();
    let first = stored(&world, &doc_ids).await;
    assert_eq!(first.len(), doc_ids.len());
    assert_ne!(first[0].terms, first[1].terms);

    // A vector that the feeder would not compute shows that it did not.
    let mark = |row: &StoredTermVector| StoredTermVector { terms: first[149].terms.clone(), ..row.clone() };
    let marked: Vec<StoredTermVector> = first.iter().map(mark).collect();
    world.store.store_term_vectors(marked.clone()).await.unwrap();
    world.store.enqueue_rebuild(IndexName::Workspace, world.clock.now()).await.unwrap();
    world.feeder.drain_all().await.unwrap();
    assert_eq!(stored(&world, &doc_ids).await, marked);

    let retitled = file(&world, "0.md", "walrus number 0", Some("Title"));
    let changed = file(&world, "1.md", "another walrus", None);
    save(&world, vec![retitled, changed]).await;
    assert_eq!(stored(&world, &doc_ids).await, marked[2..], "neither fits");
    world.feeder.drain_all().await.unwrap();
    let again = stored(&world, &doc_ids).await;
    assert_eq!((again.len(), &again[2..]), (150, &marked[2..]));
    assert!(again[0].terms != first[0].terms && again[1].terms != first[1].terms);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_that_is_divided_later_has_the_same_terms() {
    let world = World::new().await;
    let section = |number: usize| format!("# Part {number}\n\n{}\n\n", "The walrus sleeps on the pump. ".repeat(20));
    let content: String = (0..200).map(section).collect();
    // Names of equal words, which are searched beside the text.
    let divided = file(&world, "pump log.md", &content, None);
    assert!(divided.capture.parts.is_some());
    let mut whole = file(&world, "Pump log.md", &content, None);
    whole.capture.content = Arc::unwrap_or_clone(whole.parts.take().unwrap().content);
    whole.capture.parts = None;
    let doc_ids = save(&world, vec![divided, whole]).await;
    world.feeder.drain_all().await.unwrap();
    let rows = stored(&world, &doc_ids).await;
    assert_eq!(rows.len(), 2);
    assert!(rows[0].terms == rows[1].terms, "the terms differ");
}
