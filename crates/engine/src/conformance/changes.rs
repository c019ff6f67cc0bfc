use model::{Generation, IndexName};
use uuid::Uuid;

use super::{NONE, file, found_by, id, organization, page, put, put_web};
use crate::{Change, SearchEngine};

pub async fn put_replaces_and_remove_deletes(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "copper pipes"), page(2, "steel pipes")]).await;
    assert_eq!(found_by(engine, "copper").await, [id(1)]);
    put_web(engine, vec![page(1, "lead pipes")]).await;
    assert_eq!(found_by(engine, "copper").await, NONE);
    assert_eq!(found_by(engine, "lead").await, [id(1)]);
    assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), 2);
    engine.apply(IndexName::Web, vec![Change::Remove { doc_id: id(1) }]).await.expect("a removal");
    assert_eq!(found_by(engine, "lead pipes").await, [id(2)]);
    assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), 1);
}

pub async fn changes_are_idempotent(engine: &dyn SearchEngine) {
    for _ in 0..3 {
        put_web(engine, vec![page(1, "copper pipes")]).await;
        assert_eq!(found_by(engine, "copper").await, [id(1)]);
        assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), 1);
    }
    for _ in 0..3 {
        engine.apply(IndexName::Web, vec![Change::Remove { doc_id: id(1) }]).await.expect("a removal");
        assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), 0);
    }
    engine.apply(IndexName::Web, Vec::new()).await.expect("an empty batch is accepted");
}

pub async fn changes_apply_in_order(engine: &dyn SearchEngine) {
    let put = |text: &str| Change::Put(Box::new(page(1, text)));
    let remove = || Change::Remove { doc_id: id(1) };
    engine.apply(IndexName::Web, vec![put("first"), put("second")]).await.expect("changes");
    assert_eq!(found_by(engine, "first").await, NONE);
    assert_eq!(found_by(engine, "second").await, [id(1)]);
    engine.apply(IndexName::Web, vec![put("third"), remove()]).await.expect("changes");
    assert_eq!(found_by(engine, "second third").await, NONE);
    engine.apply(IndexName::Web, vec![remove(), put("fourth")]).await.expect("changes");
    assert_eq!(found_by(engine, "fourth").await, [id(1)]);
    assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), 1);
}

pub async fn clear_affects_one_index(engine: &dyn SearchEngine) {
    put_web(engine, vec![page(1, "copper"), page(2, "copper")]).await;
    put(engine, IndexName::Workspace, vec![file(3, organization(1), "copper")]).await;
    engine.clear(IndexName::Web).await.expect("cleared");
    assert_eq!(found_by(engine, "copper").await, NONE);
    assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), 0);
    assert_eq!(engine.document_count(IndexName::Workspace).await.expect("a count"), 1);
    put_web(engine, vec![page(1, "copper")]).await;
    assert_eq!(found_by(engine, "copper").await, [id(1)]);
}

pub async fn empty_index_returns_no_hits(engine: &dyn SearchEngine) {
    engine.ping().await.expect("a ping");
    assert_eq!(found_by(engine, "anything").await, NONE);
    let statistics = super::search(engine, &super::request("anything")).await.statistics;
    assert_eq!(statistics.documents, 0);
    assert!(statistics.document_frequency.is_empty());
    assert_eq!(statistics.average_length, 0.0);
}

pub async fn generations_are_kept_per_index(engine: &dyn SearchEngine) {
    let (first, second) = (Generation(Uuid::from_u128(1)), Generation(Uuid::from_u128(2)));
    assert_eq!(engine.generation(IndexName::Web).await.expect("no generation"), None);
    for generation in [first, second] {
        engine.set_generation(IndexName::Web, generation).await.expect("stored");
        assert_eq!(engine.generation(IndexName::Web).await.expect("a generation"), Some(generation));
    }
    put_web(engine, vec![page(1, "copper pipes")]).await;
    engine.clear(IndexName::Web).await.expect("cleared");
    assert_eq!(engine.generation(IndexName::Web).await.expect("a generation"), Some(second));
    assert_eq!(engine.generation(IndexName::Workspace).await.expect("no generation"), None);
    put_web(engine, vec![page(2, "copper")]).await;
    assert_eq!(found_by(engine, "copper").await, [id(2)], "a generation is not a document");
    assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), 1);
}

/// Engines that cannot tell have no snapshots.
pub async fn snapshots_change_with_the_index(engine: &dyn SearchEngine) {
    let snapshot = async || super::search(engine, &super::request("copper")).await.snapshot;
    put_web(engine, vec![page(1, "copper pipes")]).await;
    let Some(first) = snapshot().await else { return };
    assert_eq!(snapshot().await, Some(first));
    put_web(engine, vec![page(2, "copper wires")]).await;
    let second = snapshot().await;
    assert_ne!(second, Some(first));
    engine.apply(IndexName::Web, vec![Change::Remove { doc_id: id(2) }]).await.expect("a removal");
    let third = snapshot().await;
    assert!(third != second && third != Some(first), "an earlier snapshot never returns");
}
