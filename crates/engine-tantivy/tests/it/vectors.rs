use engine::memory::MemoryEngine;
use engine::{Change, DocumentVectors, Filters, IndexDocument, SearchEngine, SemanticRequest};
use engine_tantivy::{TantivyEngine, TantivyOptions};
use model::{Collection, DocId, IndexName};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use uuid::Uuid;

use crate::{count, open};

const SPACE: VectorSpace = VectorSpace(7);
const DIMENSIONS: u32 = 96;

/// Returns a number in `0..1`.
fn random(seed: u32, at: u32) -> f32 {
    let hash = (seed.wrapping_mul(0x9e37_79b9) ^ at.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
    ((hash ^ (hash >> 15)).wrapping_mul(0x27d4_eb2f) >> 8) as f32 / (1 << 24) as f32
}

/// Returns a unit vector in a random direction.
fn direction(seed: u32) -> Vec<f32> {
    let components: Vec<f32> = (0..DIMENSIONS).map(|at| random(seed, at) - 0.5).collect();
    let length = components.iter().map(|component| component * component).sum::<f32>().sqrt();
    components.into_iter().map(|component| component / length).collect()
}

/// Returns a vector of one of ten clusters, none of whose components is negative.
fn vector(seed: u32) -> QuantizedVector {
    let components = (0..DIMENSIONS).map(|at| random(seed % 10, at) + 0.5 * random(1_000 + seed, at));
    QuantizedVector::quantize(&components.collect::<Vec<_>>()).expect("a vector")
}

/// Returns a document of 40 passages, labelled by the last digit of its number.
fn document(number: u32) -> Change {
    let passages = (0..40).map(|passage| vector(number * 40 + passage)).collect();
    Change::Put(Box::new(IndexDocument {
        labels: vec![format!("{}", number % 10)],
        vectors: Some(DocumentVectors { space: SPACE, passages }),
        ..IndexDocument::new(DocId(Uuid::from_u128(u128::from(number))), Collection::Web)
    }))
}

fn nearest(seed: u32, filters: Filters) -> SemanticRequest {
    SemanticRequest { collection: Collection::Web, space: SPACE, vector: vector(seed), filters, limit: 10 }
}

/// Compares the hits with those of the exact engine. Returns the share that was found.
async fn recall(engine: &dyn SearchEngine, exact: &dyn SearchEngine, filters: &Filters) -> f64 {
    let (mut found, mut total) = (0, 0);
    for seed in 1_000_000..1_000_010 {
        let request = nearest(seed, filters.clone());
        let hits = engine.semantic(&request).await.expect("hits");
        let expected = exact.semantic(&request).await.expect("hits");
        assert_eq!(hits.len(), expected.len());
        for hit in &hits {
            // A worse passage may stand for a document, but never a better one.
            let same = expected.iter().find(|other| other.doc_id == hit.doc_id);
            assert!(
                same.is_none_or(|same| hit.cosine <= same.cosine && hit.cosine > same.cosine - 0.01),
                "{hit:?} {same:?}"
            );
        }
        total += expected.len();
        found += expected.iter().filter(|hit| hits.iter().any(|other| other.doc_id == hit.doc_id)).count();
    }
    found as f64 / total as f64
}

#[tokio::test]
async fn large_scopes_are_searched_by_sketches_with_little_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    let exact = MemoryEngine::default();
    let labelled = Filters { labels: vec!["3".into(), "4".into(), "5".into()], ..Filters::default() };
    for start in [0, 150] {
        let changes: Vec<Change> = (start..start + 150).map(document).collect();
        engine.apply(IndexName::Web, changes.clone()).await.expect("changes");
        exact.apply(IndexName::Web, changes).await.expect("changes");
        for filters in [&Filters::default(), &labelled] {
            let recall = recall(&engine, &exact, filters).await;
            assert!(recall >= 0.95, "{recall} with {filters:?}");
        }
    }
    // Removed documents are no hits, although the sketches of their segment are kept.
    for number in 0..100 {
        let removed = Change::Remove { doc_id: DocId(Uuid::from_u128(number)) };
        engine.apply(IndexName::Web, vec![removed.clone()]).await.expect("a removal");
        exact.apply(IndexName::Web, vec![removed]).await.expect("a removal");
    }
    let after_removals = recall(&engine, &exact, &Filters::default()).await;
    assert!(after_removals >= 0.95, "{after_removals}");
    drop(engine);
    let engine = open(folder.path());
    assert_eq!(count(&engine).await, 200);
    assert_eq!(recall(&engine, &exact, &Filters::default()).await, after_removals);
}

#[tokio::test]
async fn documents_of_one_passage_are_searched_by_sketches_with_little_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    let exact = MemoryEngine::default();
    let document = |number: u32| {
        Change::Put(Box::new(IndexDocument {
            vectors: Some(DocumentVectors { space: SPACE, passages: vec![vector(number)] }),
            ..IndexDocument::new(DocId(Uuid::from_u128(u128::from(number))), Collection::Web)
        }))
    };
    let changes: Vec<Change> = (0..25_000).map(document).collect();
    engine.apply(IndexName::Web, changes.clone()).await.expect("changes");
    exact.apply(IndexName::Web, changes).await.expect("changes");
    let recall = recall(&engine, &exact, &Filters::default()).await;
    assert!(recall >= 0.98, "{recall}");
}

#[tokio::test]
async fn vectors_are_searched_while_documents_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    engine.apply(IndexName::Web, (0..100).map(document).collect()).await.expect("changes");
    let changes = async {
        for round in 1..20 {
            engine.apply(IndexName::Web, (round * 10..round * 10 + 30).map(document).collect()).await.expect("changes");
        }
    };
    let searches = async {
        for seed in 0..100 {
            let hits = engine.semantic(&nearest(seed, Filters::default())).await.expect("hits");
            assert_eq!(hits.len(), 10);
        }
    };
    futures_util::future::join(changes, searches).await;
}

#[tokio::test]
async fn hits_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = |seed: u32| {
        let component = |at: u32| (seed.wrapping_mul(0x9e37_79b9 + 2 * at) >> 16) as f32 - 32_768.0;
        QuantizedVector::quantize(&[0, 1, 2, 3, 4].map(component)).expect("a vector")
    };
    // More vectors than one thread scans alone.
    let document = |number: u32| {
        let passages = (0..64).map(|passage| short(number * 64 + passage)).collect();
        Change::Put(Box::new(IndexDocument {
            vectors: Some(DocumentVectors { space: SPACE, passages }),
            ..IndexDocument::new(DocId(Uuid::from_u128(u128::from(number))), Collection::Web)
        }))
    };
    open(folder.path()).apply(IndexName::Web, (0..3_500).map(document).collect()).await.expect("changes");
    let mut hits = Vec::new();
    for threads in [1, 2, 3] {
        let options = TantivyOptions { threads, ..TantivyOptions::default() };
        let engine = TantivyEngine::open(folder.path(), options).expect("the index opens");
        let request = SemanticRequest { vector: short(1 << 30), limit: 50, ..nearest(0, Filters::default()) };
        hits.push(engine.semantic(&request).await.expect("hits"));
    }
    assert_eq!(hits[0].len(), 50);
    assert!(hits.iter().all(|other| *other == hits[0]));
}

#[tokio::test]
async fn nearest_of_a_narrow_segment_are_found_beside_a_broad_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    let exact = MemoryEngine::default();
    // Returns a weighted sum of directions, given by their seeds.
    let mixed = |parts: &[(u32, f32)]| {
        let directions = parts.iter().map(|(seed, weight)| (direction(*seed), *weight));
        let sum = directions.fold(vec![0.0; DIMENSIONS as usize], |sum: Vec<f32>, (direction, weight)| {
            sum.into_iter().zip(direction).map(|(sum, component)| sum + weight * component).collect()
        });
        QuantizedVector::quantize(&sum).expect("a vector")
    };
    let (subject, others) = (1, 2);
    let near = |number: u32| mixed(&[(subject, 0.9), (number, 0.44)]);
    let broad = |number: u32| match number % 3 {
        0 => mixed(&[(subject, 0.75), (number, 0.66)]),
        _ => mixed(&[(others, 0.7), (number, 0.7)]),
    };
    let document = |number: u32, vector: QuantizedVector| {
        Change::Put(Box::new(IndexDocument {
            vectors: Some(DocumentVectors { space: SPACE, passages: vec![vector] }),
            ..IndexDocument::new(DocId(Uuid::from_u128(u128::from(number))), Collection::Web)
        }))
    };
    let segments: [Vec<Change>; 2] = [
        (10_000..14_500).map(|number| document(number, broad(number))).collect(),
        (20_000..21_200).map(|number| document(number, near(number))).collect(),
    ];
    for changes in segments {
        engine.apply(IndexName::Web, changes.clone()).await.expect("changes");
        exact.apply(IndexName::Web, changes).await.expect("changes");
    }
    let (mut found, mut total) = (0, 0);
    for number in 30_000..30_010 {
        let request = SemanticRequest { vector: near(number), ..nearest(0, Filters::default()) };
        let hits = engine.semantic(&request).await.expect("hits");
        let expected = exact.semantic(&request).await.expect("hits");
        total += expected.len();
        found += expected.iter().filter(|hit| hits.iter().any(|other| other.doc_id == hit.doc_id)).count();
    }
    assert!(found as f64 >= 0.98 * total as f64, "{found} of {total}");
}
