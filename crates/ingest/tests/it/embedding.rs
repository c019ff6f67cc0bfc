//! Embedding: each text once, apart from indexing, over outages, crashes and changes of the model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use docstore::{ModelCalibration, NewDocument};
use engine::{Filters, SearchEngine, SemanticRequest};
use ingest::EmbeddingWorker;
use ingest::embed::{EmbedError, Filler, MAX_PASSAGES};
use ingest::prepare::{self, Content, Extent, Source};
use model::{Clock, Collection, DocId, IndexName};
use models::ModelError;
use models::embedding::{Embedder, TextKind};
use models::testing::TestEmbedder;
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use retrieval_core::fusion::CALIBRATION_VERSION;
use retrieval_core::url;
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// Limit of waits that end early.
const PATIENCE: Duration = Duration::from_secs(30);

fn worker<E: Embedder + 'static>(world: &World, model: &Arc<E>) -> Arc<EmbeddingWorker> {
    let embedder = Arc::clone(model) as Arc<dyn Embedder>;
    Arc::new(EmbeddingWorker::new(world.store.clone(), embedder, Arc::clone(&world.clock) as Arc<dyn Clock>))
}

fn filler<E: Embedder + 'static>(world: &World, model: &Arc<E>) -> Filler {
    let embedder = Arc::clone(model) as Arc<dyn Embedder>;
    Filler::new(world.store.clone(), embedder, Arc::clone(&world.clock) as Arc<dyn Clock>)
}

/// A world whose indexes use a model of known quality.
async fn world_with_model() -> (World, Arc<TestEmbedder>, Arc<EmbeddingWorker>) {
    let world = World::new().await;
    let model = Arc::new(TestEmbedder::default().with_synonyms("holiday", "vacation").without("xyzzy"));
    let (version, meaning, repetition) = (CALIBRATION_VERSION, 1.0, 7.0);
    let (model_version, by_language) = (model.version().to_owned(), "en=1".to_owned());
    let known = ModelCalibration { model: model_version, version, meaning, repetition, by_language };
    world.store.store_calibration(known).await.unwrap();
    let worker = worker(&world, &model);
    worker.adopt().await.unwrap();
    (world, model, worker)
}

pub fn document(collection: Collection, url: String, markdown: &str, title: Option<&str>, now: &World) -> NewDocument {
    let source = Source {
        collection,
        canonical_url: url.clone(),
        source_url: url,
        source_uri: None,
        mime: None,
        country: None,
        listed: true,
    };
    let content = Content { markdown: markdown.to_owned(), title: title.map(str::to_owned), ..Content::default() };
    prepare::document(source, content, now.clock.now())
}

async fn save(world: &World, name: &str, markdown: &str) -> DocId {
    save_titled(world, name, markdown, None).await
}

async fn save_titled(world: &World, name: &str, markdown: &str, title: Option<&str>) -> DocId {
    let url = url::workspace_url(world.organization_id, name);
    let new = document(Collection::Workspace(world.organization_id), url, markdown, title, world);
    let doc_id = new.document.doc_id;
    world.store.save_documents(vec![new], world.clock.now()).await.unwrap();
    doc_id
}

/// Feeds the indexes, embeds, and feeds the vectors.
async fn settle(world: &World, worker: &EmbeddingWorker) {
    world.feeder.drain_all().await.unwrap();
    worker.drain().await.unwrap();
    world.feeder.drain_all().await.unwrap();
    assert_eq!(world.store.count_embedding_jobs().await.unwrap(), 0);
}

/// Returns the documents of the workspace with vectors of this model, those nearest to the query first.
async fn near(world: &World, model: &TestEmbedder, query: &str) -> Vec<DocId> {
    let request = SemanticRequest {
        collection: Collection::Workspace(world.organization_id),
        space: VectorSpace::of(model.version()),
        vector: QuantizedVector::quantize(&model.vector(query)).unwrap(),
        filters: Filters::default(),
        limit: 1_000,
    };
    world.engine.semantic(&request).await.unwrap().into_iter().map(|hit| hit.doc_id).collect()
}

fn embedded(model: &TestEmbedder) -> usize {
    model.embedded(TextKind::Document).len()
}

/// Returns sections that are a passage each, with a word of their own.
fn sections(words: &[&str]) -> String {
    let filler = "Nothing to see here, move along. ".repeat(22);
    words.iter().map(|word| format!("# About {word}\n\n{word} {filler}\n\n")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_found_by_meaning_once_they_are_embedded() {
    let (world, model, worker) = world_with_model().await;
    let (leave, walrus) = (save(&world, "a.md", "Holiday allowance").await, save(&world, "b.md", "A walrus").await);
    world.feeder.drain_all().await.unwrap();
    assert_eq!(world.found("walrus").await, [walrus], "words need no vectors");
    assert!(near(&world, &model, "vacation allowance").await.is_empty());
    settle(&world, &worker).await;
    assert_eq!(near(&world, &model, "vacation allowance").await, [leave, walrus]);
    assert!(world.found("vacation").await.is_empty());
    // A document without text has nothing to embed.
    save(&world, "empty.md", "").await;
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_text_of_an_owner_is_embedded_once() {
    let (world, model, worker) = world_with_model().await;
    for name in ["a.md", "b.md"] {
        save(&world, name, &sections(&["walrus", "carpenter"])).await;
    }
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), 2, "in one round");
    save(&world, "c.md", &sections(&["walrus", "carpenter"])).await;
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), 2, "a copy of a stored document");
    assert_eq!(near(&world, &model, "walrus").await.len(), 3);
    save(&world, "a.md", &sections(&["walrus", "oyster"])).await;
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), 3, "one passage has changed");
    // Fed once more, and an unchanged document that is stored again.
    save(&world, "a.md", &sections(&["walrus", "oyster"])).await;
    world.store.enqueue_rebuild(IndexName::Workspace, world.clock.now()).await.unwrap();
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), 3);

    let neighbour = world.neighbour().await;
    save(&neighbour, "a.md", &sections(&["walrus", "carpenter"])).await;
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), 5, "texts of other organizations are not looked at");
    assert_eq!(near(&neighbour, &model, "walrus").await.len(), 1);
    assert_eq!(near(&world, &model, "walrus").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn title_is_embedded_with_each_passage() {
    let (world, model, worker) = world_with_model().await;
    let doc_id = save_titled(&world, "a.md", "Staff get 30 days.", Some("Holiday")).await;
    let other = save_titled(&world, "b.md", "Staff get 30 days.", Some("Parking")).await;
    settle(&world, &worker).await;
    assert_eq!(near(&world, &model, "vacation").await, [doc_id, other]);
    save_titled(&world, "b.md", "Staff get 30 days.", Some("Vacation vacation")).await;
    settle(&world, &worker).await;
    assert_eq!(near(&world, &model, "vacation").await, [other, doc_id]);
    assert_eq!(embedded(&model), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn snippets_are_embedded_and_unlisted_pages_are_not() {
    let (world, model, worker) = world_with_model().await;
    for (url, listed, extent) in
        [("https://example.com/a", true, Extent::Snippet), ("https://example.com/b", false, Extent::Whole)]
    {
        let source = Source {
            collection: Collection::Web,
            canonical_url: url.to_owned(),
            source_url: url.to_owned(),
            source_uri: None,
            mime: None,
            country: None,
            listed,
        };
        let content = Content { markdown: format!("walrus {listed}"), extent, ..Content::default() };
        let new = prepare::document(source, content, world.clock.now());
        world.store.save_documents(vec![new], world.clock.now()).await.unwrap();
    }
    settle(&world, &worker).await;
    assert_eq!(model.embedded(TextKind::Document), ["walrus true"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outage_of_the_model_delays_vectors_only() {
    let (world, model, worker) = world_with_model().await;
    model.fail();
    let first = save(&world, "a.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    for _ in 0..5 {
        let failed = worker.drain().await.unwrap_err();
        assert!(matches!(failed, EmbedError::Model(_)), "{failed}");
    }
    let second = save(&world, "b.md", "Another walrus").await;
    world.feeder.drain_all().await.unwrap();
    let mut found = world.found("walrus").await;
    found.sort_unstable();
    let mut both = [first, second];
    both.sort_unstable();
    assert_eq!(found, both);
    assert_eq!(world.store.count_embedding_jobs().await.unwrap(), 2);
    model.recover();
    settle(&world, &worker).await;
    assert_eq!((near(&world, &model, "walrus").await.len(), embedded(&model)), (2, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_text_keeps_back_nothing_else() {
    let (world, model, worker) = world_with_model().await;
    model.reject("poison");
    let words = ["oyster", "poison", "walrus", "carpenter"];
    let mixed = save(&world, "mixed.md", &sections(&words)).await;
    let others: Vec<String> = (0..20).map(|n| format!("{n}.md")).collect();
    for name in &others {
        save(&world, name, &format!("A walrus called {name}")).await;
    }
    world.feeder.drain_all().await.unwrap();
    worker.drain().await.unwrap();
    world.feeder.drain_all().await.unwrap();
    assert_eq!(near(&world, &model, "walrus").await.len(), others.len());
    assert_eq!(world.store.count_embedding_jobs().await.unwrap(), 1);
    // It is repeated later, and then given up.
    for _ in 0..2 {
        world.clock.set(world.clock.now() + Duration::from_mins(10));
        worker.drain().await.unwrap();
    }
    settle(&world, &worker).await;
    assert!(near(&world, &model, "walrus").await.contains(&mixed));
    let texts = model.embedded(TextKind::Document);
    let embedded = |word: &str| texts.iter().filter(|text| text.starts_with(&format!("About {word}"))).count();
    assert_eq!(words.map(embedded), [1, 0, 1, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_that_the_model_does_not_know_are_done_and_near_to_nothing() {
    let (world, model, worker) = world_with_model().await;
    let unknown = save(&world, "unknown.md", "Xyzzy").await;
    let known = save(&world, "known.md", "A walrus").await;
    // No job is left to repeat.
    settle(&world, &worker).await;
    assert_eq!((near(&world, &model, "walrus").await, embedded(&model)), (vec![known], 2));
    // The text is not embedded again.
    let workspace = Collection::Workspace(world.organization_id);
    let states = world.store.find_latest_states(workspace, vec![unknown]).await.unwrap();
    let stored = world.store.list_vectors(vec![states[0].capture_id], model.version().to_owned()).await.unwrap();
    assert_eq!(stored[0].passages.len(), 1);
    assert!(stored[0].passages[0].codes.iter().all(|code| *code == 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn document_with_many_rejected_texts_ends_like_any_other() {
    let (world, model, worker) = world_with_model().await;
    model.reject("poison");
    // More than a round embeds.
    let words: Vec<String> = (0..300).map(|n| format!("poison{n}")).chain(["walrus".to_owned()]).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let poisoned = save(&world, "poisoned.md", &sections(&words)).await;
    let other = save(&world, "other.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    for _ in 0..3 {
        tokio::time::timeout(PATIENCE, worker.drain()).await.unwrap().unwrap();
        let texts = model.embedded(TextKind::Document);
        assert_eq!(texts.iter().filter(|text| text.contains("walrus")).count(), 2, "each once");
        world.clock.set(world.clock.now() + Duration::from_mins(10));
    }
    settle(&world, &worker).await;
    let mut found = near(&world, &model, "walrus").await;
    found.sort_unstable();
    let mut expected = [poisoned, other];
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn organization_with_long_documents_leaves_turns_to_others() {
    let (world, model, worker) = world_with_model().await;
    let mut both = [world.neighbour().await, world.neighbour().await];
    both.sort_unstable_by_key(|world| world.organization_id);
    let [heavy, light] = &both;
    for document in 0..3 {
        let words: Vec<String> = (0..260).map(|n| format!("word{document}x{n}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        save(heavy, &format!("{document}.md"), &sections(&words)).await;
    }
    save(light, "a.md", "A walrus").await;
    let web = document(Collection::Web, "https://example.com/".to_owned(), "A seal", None, &world);
    world.store.save_documents(vec![web], world.clock.now()).await.unwrap();
    settle(&world, &worker).await;
    let texts = model.embedded(TextKind::Document);
    assert_eq!(texts.len(), 3 * 260 + 2);
    for text in ["A walrus", "A seal"] {
        assert!(texts.iter().position(|embedded| embedded == text) < Some(300), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_document_takes_several_rounds_up_to_a_limit() {
    let (world, model, worker) = world_with_model().await;
    let words: Vec<String> = (0..MAX_PASSAGES + 30).map(|n| format!("word{n}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let doc_id = save(&world, "long.md", &sections(&words)).await;
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), MAX_PASSAGES);
    assert_eq!(near(&world, &model, "word1999").await, [doc_id]);
    let states =
        world.store.find_latest_states(Collection::Workspace(world.organization_id), vec![doc_id]).await.unwrap();
    let stored = world.store.list_vectors(vec![states[0].capture_id], model.version().to_owned()).await.unwrap();
    assert_eq!(stored[0].passages.len(), MAX_PASSAGES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_vectors_of_a_long_document_are_embedded_once_more() {
    let (world, model, worker) = world_with_model().await;
    // More than a round embeds.
    let words: Vec<String> = (0..300).map(|n| format!("word{n}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let doc_id = save(&world, "long.md", &sections(&words)).await;
    settle(&world, &worker).await;
    assert_eq!(embedded(&model), 300);
    world.execute("UPDATE capture_vectors SET passages = x'00'");
    world.store.enqueue_rebuild(IndexName::Workspace, world.clock.now()).await.unwrap();
    tokio::time::timeout(PATIENCE, settle(&world, &worker)).await.unwrap();
    assert_eq!(embedded(&model), 600);
    assert_eq!(near(&world, &model, "word299").await, [doc_id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_share_the_queue() {
    let (world, model, first) = world_with_model().await;
    let second = worker(&world, &model);
    for n in 0..150 {
        save(&world, &format!("{n}.md"), &format!("A walrus called {n}")).await;
    }
    world.feeder.drain_all().await.unwrap();
    let (one, other) = tokio::join!(first.drain(), second.drain());
    one.unwrap();
    other.unwrap();
    settle(&world, &first).await;
    assert_eq!((near(&world, &model, "walrus").await.len(), embedded(&model)), (150, 150));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_worker_loses_nothing() {
    let (world, model, first) = world_with_model().await;
    let doc_id = save(&world, "a.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    model.hold();
    let working = tokio::spawn(first.work(CancellationToken::new()));
    tokio::time::timeout(PATIENCE, model.reached(1)).await.unwrap();
    working.abort();
    assert!(working.await.unwrap_err().is_cancelled());
    model.release();
    let second = worker(&world, &model);
    second.drain().await.unwrap();
    assert_eq!(embedded(&model), 0, "the lease has not expired");
    world.clock.set(world.clock.now() + Duration::from_mins(4));
    settle(&world, &second).await;
    assert_eq!(near(&world, &model, "walrus").await, [doc_id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_worker_releases_its_jobs() {
    let (world, model, first) = world_with_model().await;
    save(&world, "a.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    model.hold();
    let stop = CancellationToken::new();
    let working = tokio::spawn(first.work(stop.clone()));
    tokio::time::timeout(PATIENCE, model.reached(1)).await.unwrap();
    stop.cancel();
    working.await.unwrap();
    model.release();
    settle(&world, &worker(&world, &model)).await;
    assert_eq!(embedded(&model), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_while_a_document_is_embedded_are_not_lost() {
    let (world, model, first) = world_with_model().await;
    let doc_id = save(&world, "a.md", &sections(&["walrus", "carpenter"])).await;
    world.feeder.drain_all().await.unwrap();
    model.hold();
    let stop = CancellationToken::new();
    let working = tokio::spawn(Arc::clone(&first).work(stop.clone()));
    tokio::time::timeout(PATIENCE, model.reached(1)).await.unwrap();
    save(&world, "a.md", &sections(&["walrus", "oyster"])).await;
    world.feeder.drain_all().await.unwrap();
    model.release();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while world.store.count_embedding_jobs().await.unwrap() > 0 {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    stop.cancel();
    working.await.unwrap();
    settle(&world, &first).await;
    assert_eq!(embedded(&model), 3);
    assert_eq!(near(&world, &model, "oyster").await, [doc_id]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn index_is_rebuilt_without_the_model() {
    let (world, model, worker) = world_with_model().await;
    for n in 0..20 {
        save(&world, &format!("{n}.md"), &format!("A walrus called {n}")).await;
    }
    settle(&world, &worker).await;
    let before = near(&world, &model, "walrus called 7").await;
    assert_eq!(before.len(), 20);
    model.fail();
    let calls = model.calls();
    world.store.enqueue_rebuild(IndexName::Workspace, world.clock.now()).await.unwrap();
    world.feeder.drain_all().await.unwrap();
    assert_eq!(near(&world, &model, "walrus called 7").await, before);
    assert_eq!((model.calls(), world.store.count_embedding_jobs().await.unwrap()), (calls, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_document_loses_its_vectors() {
    let (world, model, worker) = world_with_model().await;
    let doc_id = save(&world, "a.md", "A walrus").await;
    let waiting = save(&world, "b.md", "Another walrus").await;
    settle(&world, &worker).await;
    save(&world, "b.md", "A changed walrus").await;
    world.feeder.drain_all().await.unwrap();
    for doc_id in [doc_id, waiting] {
        let now = world.clock.now();
        assert!(world.store.hide_workspace_document(world.organization_id, doc_id, now).await.unwrap());
    }
    settle(&world, &worker).await;
    assert!(near(&world, &model, "walrus").await.is_empty());
    assert_eq!(embedded(&model), 2, "what was removed is not embedded");
    world.store.purge_workspace(world.organization_id, 10, world.clock.now()).await.unwrap();
    assert!(world.store.count_vectors().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn switch_to_a_model_that_was_filled_in_embeds_nothing() {
    let (world, old, worker_of_old) = world_with_model().await;
    for n in 0..150 {
        save(&world, &format!("{n}.md"), &format!("A walrus called {n}")).await;
    }
    settle(&world, &worker_of_old).await;
    let new = Arc::new(TestEmbedder::new("new"));
    let filler = filler(&world, &new);
    assert_eq!(filler.missing().await.unwrap(), 150);
    let mut shown = 0;
    let filled = filler.fill(|documents| shown += documents).await.unwrap();
    assert_eq!((filled.documents, filled.passages, shown), (150, 150, 150));
    assert_eq!((filler.missing().await.unwrap(), filler.fill(|_| {}).await.unwrap().documents), (0, 0));
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0, "the servers use the old model");
    assert_eq!(filler.prune().await.unwrap(), 0);
    assert_eq!(near(&world, &old, "walrus").await.len(), 150);

    new.fail();
    let worker_of_new = worker(&world, &new);
    worker_of_new.adopt().await.unwrap();
    settle(&world, &worker_of_new).await;
    assert_eq!((near(&world, &new, "walrus").await.len(), near(&world, &old, "walrus").await.len()), (150, 0));
    // A server with the old settings leaves the queue alone.
    save(&world, "new.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    worker_of_old.drain().await.unwrap();
    assert_eq!((embedded(&old), world.store.count_embedding_jobs().await.unwrap()), (150, 1));
    new.recover();
    settle(&world, &worker_of_new).await;
    assert_eq!(filler.prune().await.unwrap(), 150);
    assert_eq!(world.store.count_vectors().await.unwrap(), [("new".to_owned(), 151)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_model_embeds_what_was_indexed_before() {
    let world = World::new().await;
    for n in 0..5 {
        save(&world, &format!("{n}.md"), &format!("A walrus called {n}")).await;
    }
    world.feeder.drain_all().await.unwrap();
    assert_eq!(world.store.count_embedding_jobs().await.unwrap(), 0);
    let model = Arc::new(TestEmbedder::default());
    let first = worker(&world, &model);
    first.adopt().await.unwrap();
    settle(&world, &first).await;
    assert_eq!(near(&world, &model, "walrus").await.len(), 5);
    // Without a model for a while.
    world.store.use_model(None).await.unwrap();
    save(&world, "meanwhile.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    assert_eq!(world.store.count_embedding_jobs().await.unwrap(), 0);
    first.adopt().await.unwrap();
    settle(&world, &first).await;
    assert_eq!((near(&world, &model, "walrus").await.len(), embedded(&model)), (6, 6));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filling_in_the_model_in_use_feeds_the_index() {
    let (world, model, worker) = world_with_model().await;
    let doc_id = save(&world, "a.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    filler(&world, &model).fill(|_| {}).await.unwrap();
    settle(&world, &worker).await;
    assert_eq!((near(&world, &model, "walrus").await, embedded(&model)), (vec![doc_id], 1));
}

/// Model some of whose calls fail after a time, as the function says.
struct Faulty<F> {
    model: Arc<TestEmbedder>,
    fault: F,
}

impl<F: Fn(&[String]) -> Option<(Duration, ModelError)>> Faulty<F> {
    fn new(model: &Arc<TestEmbedder>, fault: F) -> Arc<Self> {
        Arc::new(Self { model: Arc::clone(model), fault })
    }
}

#[async_trait]
impl<F: Fn(&[String]) -> Option<(Duration, ModelError)> + Send + Sync> Embedder for Faulty<F> {
    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        match (self.fault)(texts) {
            Some((time, error)) => {
                tokio::time::sleep(time).await;
                Err(error)
            }
            None => self.model.embed(kind, texts).await,
        }
    }

    fn dimensions(&self) -> Option<usize> {
        self.model.dimensions()
    }

    fn version(&self) -> &str {
        self.model.version()
    }

    fn is_healthy(&self) -> bool {
        self.model.is_healthy()
    }
}

fn contain(texts: &[String], word: &str) -> bool {
    texts.iter().any(|text| text.contains(word))
}

/// Returns a model that each text with "poison" ends. It is back after three further calls.
fn ended_by_poison(model: &Arc<TestEmbedder>) -> Arc<impl Embedder + use<>> {
    let away = Mutex::new(0);
    Faulty::new(model, move |texts| {
        let mut away = away.lock().unwrap();
        if *away > 0 {
            *away -= 1;
        } else if contain(texts, "poison") {
            *away = 3;
        } else {
            return None;
        }
        Some((Duration::ZERO, ModelError::Unreachable("the model is away".into())))
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filling_in_gives_up_no_passage_for_an_outage() {
    let (world, model, worker) = world_with_model().await;
    let doc_id = save(&world, "a.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    let failures = Mutex::new(VecDeque::from([ModelError::Status(503), ModelError::Status(429)]));
    let flaky = Faulty::new(&model, move |texts| {
        let failure = failures.lock().unwrap().pop_front_if(|_| contain(texts, "walrus"));
        failure.map(|error| (Duration::ZERO, error))
    });
    let filled = filler(&world, &flaky).fill(|_| {}).await.unwrap();
    assert_eq!((filled.documents, filled.passages), (1, 1));
    settle(&world, &worker).await;
    assert_eq!(near(&world, &model, "walrus").await, [doc_id]);
}

/// The command waits between its attempts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filling_in_gets_beyond_a_text_that_ends_the_model() {
    let (world, model, _) = world_with_model().await;
    save(&world, "poisoned.md", "Poison, called poison").await;
    save(&world, "other.md", "A walrus").await;
    let filled = filler(&world, &ended_by_poison(&model)).fill(|_| {}).await.unwrap();
    assert_eq!((filled.documents, filled.passages), (2, 1));
    assert!(model.embedded(TextKind::Document).contains(&"A walrus".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_ends_the_model_is_isolated_and_given_up() {
    for passages in [1, 100] {
        let (world, model, _) = world_with_model().await;
        let words: Vec<String> = (0..passages).map(|n| format!("word{n}")).collect();
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words[passages / 2] = "poison";
        save(&world, "poisoned.md", &sections(&words)).await;
        let neighbour = world.neighbour().await;
        let other = save(&neighbour, "other.md", "A walrus").await;
        world.feeder.drain_all().await.unwrap();
        let worker = worker(&world, &ended_by_poison(&model));
        let mut rounds = 0;
        while world.store.count_embedding_jobs().await.unwrap() > 0 {
            // A failure of the model ends it.
            let _ = worker.drain().await;
            world.clock.set(world.clock.now() + Duration::from_mins(1));
            rounds += 1;
            if rounds == 8 {
                world.feeder.drain_all().await.unwrap();
                assert_eq!(near(&neighbour, &model, "walrus").await, [other], "{passages} passages");
            }
            assert!(rounds < 30, "{passages} passages");
        }
        let texts = model.embedded(TextKind::Document);
        let sections = texts.iter().filter(|text| text.starts_with("About")).count();
        assert_eq!((sections, contain(&texts, "poison")), (passages - 1, false), "each once, and it is given up");
    }
}

/// Returns a world with documents of two organizations. The first one to have its turn has as many passages, each of which the model
/// takes a while to reject. Embeds until the other document is embedded, which must not wait for all of them.
async fn world_with_slow_rejections(passages: usize) -> (World, Arc<EmbeddingWorker>) {
    let (world, model, _) = world_with_model().await;
    let mut both = [world.neighbour().await, world.neighbour().await];
    both.sort_unstable_by_key(|world| world.organization_id);
    let [heavy, light] = &both;
    let words: Vec<String> = (0..passages).map(|n| format!("poison{n}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    save(heavy, "poisoned.md", &sections(&words)).await;
    save(light, "other.md", "A walrus").await;
    world.feeder.drain_all().await.unwrap();
    let slow = Faulty::new(&model, |texts| {
        contain(texts, "poison").then_some((Duration::from_millis(20), ModelError::Status(500)))
    });
    let worker = EmbeddingWorker::new(world.store.clone(), slow, Arc::clone(&world.clock) as Arc<dyn Clock>);
    let worker = Arc::new(worker.with_round_time(Duration::from_millis(100)));
    let other_is_embedded = async {
        while !model.embedded(TextKind::Document).contains(&"A walrus".to_owned()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = other_is_embedded => {}
        _ = worker.drain() => panic!("the other document waited for all rejections"),
    }
    (world, worker)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_rejections_leave_turns_to_others() {
    world_with_slow_rejections(300).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_rejections_of_many_rounds_end() {
    // Fewer than a round embeds: the other document is in the same round.
    let (world, worker) = world_with_slow_rejections(20).await;
    for _ in 0..3 {
        // Leases have expired, and pauses after rejections.
        world.clock.set(world.clock.now() + Duration::from_mins(10));
        worker.drain().await.unwrap();
    }
    assert_eq!(world.store.count_embedding_jobs().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_of_a_document_without_its_capture_ends() {
    let (world, _, _) = world_with_model().await;
    save(&world, "a.md", "A walrus").await;
    world.execute("DELETE FROM captures");
    let worker = worker(&world, &Arc::new(TestEmbedder::new("new")));
    worker.adopt().await.unwrap();
    tokio::time::timeout(PATIENCE, worker.drain()).await.unwrap().unwrap();
    assert_eq!(world.store.count_embedding_jobs().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn round_ends_also_when_it_holds_many_known_texts() {
    let (world, model, worker) = world_with_model().await;
    let words: Vec<String> = (0..128).map(|n| format!("word{n}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let content = sections(&words);
    save(&world, "first.md", &content).await;
    settle(&world, &worker).await;
    for n in 0..40 {
        save(&world, &format!("{n}.md"), &content).await;
    }
    world.feeder.drain_all().await.unwrap();
    let mut rounds = Vec::new();
    filler(&world, &model).fill(|documents| rounds.push(documents)).await.unwrap();
    assert_eq!((rounds, embedded(&model)), (vec![32, 8], 128));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_quality_of_a_model_is_measured_once() {
    let (world, model) = (World::new().await, Arc::new(TestEmbedder::default()));
    let worker = worker(&world, &model);
    worker.adopt().await.unwrap();
    let known = async || world.store.find_calibration(model.version().to_owned(), CALIBRATION_VERSION).await.unwrap();
    model.fail();
    filler(&world, &model).calibrate().await.unwrap_err();
    assert_eq!(known().await, None);
    model.recover();
    // The model rejects some of the texts.
    model.reject("wedding");
    let stop = CancellationToken::new();
    let working = tokio::spawn(Arc::clone(&worker).work(stop.clone()));
    let measured = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Some(calibration) = known().await {
                break calibration;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let measured = measured.await.unwrap();
    stop.cancel();
    working.await.unwrap();
    assert!(
        measured.repetition > 2.0 && measured.meaning < 1.5,
        "the words of this model have no meaning: {measured:?}"
    );
    let texts = embedded(&model);
    let again = filler(&world, &model).calibrate().await.unwrap();
    let best = again.meaning.best();
    assert_eq!((best, again.repetition, embedded(&model)), (measured.meaning, measured.repetition, texts));
    assert_eq!(again.meaning.by_language().count(), 14, "{}", measured.by_language);
}
