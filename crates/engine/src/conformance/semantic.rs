use model::{Collection, IndexName, OrganizationId, Timestamp};
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};

use super::{file, id, organization, page, put, put_web, request, search};
use crate::{Change, DocumentVectors, Filters, IndexDocument, SearchEngine, SemanticHit, SemanticRequest};

const SPACE: VectorSpace = VectorSpace(0xfeed_0000_0000_0001);
const OTHER_SPACE: VectorSpace = VectorSpace(0xfeed_0000_0000_0002);
const DIMENSIONS: usize = 16;

/// Maximum difference of a cosine from that of the unquantized vectors.
const TOLERANCE: f32 = 0.02;

fn quantized(components: &[f32]) -> QuantizedVector {
    QuantizedVector::quantize(components).expect("a vector with a direction")
}

/// Returns a vector at an angle to the first axis, which [`nearest`] searches for.
fn at(degrees: f32) -> QuantizedVector {
    let mut components = [0.0; DIMENSIONS];
    (components[1], components[0]) = degrees.to_radians().sin_cos();
    quantized(&components)
}

fn in_space(space: VectorSpace, passages: Vec<QuantizedVector>, document: IndexDocument) -> IndexDocument {
    IndexDocument { vectors: Some(DocumentVectors { space, passages }), ..document }
}

fn embedded(document: IndexDocument, angles: &[f32]) -> IndexDocument {
    in_space(SPACE, angles.iter().map(|degrees| at(*degrees)).collect(), document)
}

fn nearest() -> SemanticRequest {
    SemanticRequest {
        collection: Collection::Web,
        space: SPACE,
        vector: at(0.0),
        filters: Filters::default(),
        limit: 100,
    }
}

fn within(owner: OrganizationId) -> SemanticRequest {
    SemanticRequest { collection: Collection::Workspace(owner), ..nearest() }
}

async fn hits(engine: &dyn SearchEngine, request: &SemanticRequest) -> Vec<SemanticHit> {
    let hits = engine.semantic(request).await.expect("a search never fails");
    assert!(hits.len() <= request.limit);
    assert!(hits.windows(2).all(|pair| pair[0].cosine >= pair[1].cosine), "hits are nearest first");
    assert!(hits.iter().all(|hit| hit.cosine.abs() <= 1.0 + TOLERANCE), "{hits:?}");
    hits
}

/// Checks the hits, nearest first.
async fn check(engine: &dyn SearchEngine, request: &SemanticRequest, expected: &[u128]) {
    let found: Vec<_> = hits(engine, request).await.iter().map(|hit| hit.doc_id).collect();
    let expected: Vec<_> = expected.iter().map(|number| id(*number)).collect();
    assert_eq!(found, expected, "{:?}", request.filters);
}

pub async fn nearest_documents_rank_first(engine: &dyn SearchEngine) {
    check(engine, &nearest(), &[]).await;
    let angles = [(1, 40.0), (2, 10.0), (3, 80.0), (4, 120.0), (5, 0.0), (6, 180.0)];
    put_web(engine, angles.map(|(number, angle)| embedded(page(number, "word"), &[angle])).into()).await;
    check(engine, &nearest(), &[5, 2, 1, 3, 4, 6]).await;
    check(engine, &SemanticRequest { limit: 2, ..nearest() }, &[5, 2]).await;
    let expected = [0.0_f32, 10.0, 40.0, 80.0, 120.0, 180.0].map(|angle| angle.to_radians().cos());
    for (hit, expected) in hits(engine, &nearest()).await.iter().zip(expected) {
        assert!((hit.cosine - expected).abs() < TOLERANCE, "{hit:?} at {expected}");
    }
    // The length of a vector does not count.
    let longer =
        SemanticRequest { vector: quantized(&at(35.0).components().map(|c| c * 7.0).collect::<Vec<_>>()), ..nearest() };
    check(engine, &SemanticRequest { limit: 3, ..longer }, &[1, 2, 5]).await;
}

pub async fn best_passage_counts(engine: &dyn SearchEngine) {
    let documents = vec![
        embedded(page(1, "word"), &[90.0, 5.0, 170.0]),
        embedded(page(2, "word"), &[20.0, 20.0, 20.0, 21.0]),
        embedded(page(3, "word"), &[60.0]),
    ];
    put_web(engine, documents).await;
    check(engine, &nearest(), &[1, 2, 3]).await;
    check(engine, &SemanticRequest { limit: 2, ..nearest() }, &[1, 2]).await;
}

pub async fn equally_near_documents_are_ordered_by_id(engine: &dyn SearchEngine) {
    let numbers = [30, 4, 17, 9, 1, 22, 8, 13];
    for number in numbers {
        put_web(engine, vec![embedded(page(number, "word"), &[25.0])]).await;
    }
    let mut expected = numbers.map(id);
    expected.sort();
    let found: Vec<_> = hits(engine, &nearest()).await.iter().map(|hit| hit.doc_id).collect();
    assert_eq!(found, expected);
}

pub async fn equal_vector_searches_have_equal_hits(engine: &dyn SearchEngine) {
    for batch in 0..4 {
        let documents = (0..25).map(|n| embedded(page(100 * batch + n, "word"), &[(n * 7 + batch) as f32])).collect();
        put_web(engine, documents).await;
    }
    let few = SemanticRequest { limit: 7, ..nearest() };
    let first = hits(engine, &few).await;
    assert_eq!(first.len(), 7);
    for _ in 0..5 {
        assert_eq!(hits(engine, &few).await, first);
    }
}

pub async fn filters_apply_to_vector_search(engine: &dyn SearchEngine) {
    let document = |number, host: &str, path: &str, language: &str, country: &str, published_at, label: &str| {
        let document = IndexDocument {
            host: host.to_owned(),
            path: path.to_owned(),
            language: Some(language.to_owned()),
            country: Some(country.to_owned()),
            published_at: Some(Timestamp::from_millis(published_at)),
            labels: vec![label.to_owned()],
            ..page(number, "word")
        };
        embedded(document, &[number as f32 * 10.0])
    };
    let unknown = IndexDocument { language: None, host: "other.org".to_owned(), ..page(5, "word") };
    put_web(
        engine,
        vec![
            document(1, "example.com", "/docs/a", "en", "us", 10, "red"),
            document(2, "www.example.com", "/blog", "de", "us", 20, "blue"),
            document(3, "other.org", "/docs", "en", "de", 30, "red"),
            document(4, "other.org", "/", "en", "us", 40, "a \"b\" c"),
            embedded(unknown, &[50.0]),
        ],
    )
    .await;
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let none = Filters::default;
    let time = |millis| Some(Timestamp::from_millis(millis));
    for (filters, expected) in [
        (none(), &[1, 2, 3, 4, 5][..]),
        (Filters { language: Some("en".into()), ..none() }, &[1, 3, 4]),
        (Filters { language: Some("fr".into()), ..none() }, &[]),
        (Filters { country: Some("us".into()), ..none() }, &[1, 2, 4]),
        (Filters { published_after: time(10), ..none() }, &[2, 3, 4]),
        (Filters { published_before: time(30), ..none() }, &[1, 2]),
        (Filters { published_after: time(10), published_before: time(40), ..none() }, &[2, 3]),
        (Filters { labels: texts(&["red"]), ..none() }, &[1, 3]),
        (Filters { labels: texts(&["blue", "a \"b\" c"]), ..none() }, &[2, 4]),
        (Filters { include_domains: texts(&["example.com"]), ..none() }, &[1, 2]),
        (Filters { include_domains: texts(&["example.com/docs", "other.org/docs"]), ..none() }, &[1, 3]),
        (Filters { exclude_domains: texts(&["other.org"]), ..none() }, &[1, 2]),
        (Filters { exclude_domains: texts(&["example.com/docs"]), ..none() }, &[2, 3, 4, 5]),
        (Filters { language: Some("en".into()), country: Some("us".into()), labels: texts(&["red"]), ..none() }, &[1]),
    ] {
        check(engine, &SemanticRequest { filters, ..nearest() }, expected).await;
    }
    // The nearest documents do not crowd out those that pass the filter.
    let far = Filters { labels: texts(&["a \"b\" c"]), ..none() };
    check(engine, &SemanticRequest { filters: far, limit: 1, ..nearest() }, &[4]).await;
}

pub async fn vectors_of_other_organizations_are_no_hits(engine: &dyn SearchEngine) {
    let (large, small) = (organization(1), organization(2));
    // All documents of the large organization are nearer than those of the small one.
    let mut documents: Vec<_> =
        (100..400).map(|number| embedded(file(number, large, "word"), &[number as f32 / 100.0])).collect();
    documents.extend(
        [20.0, 30.0, 40.0].iter().zip(1..).map(|(angle, number)| embedded(file(number, small, "word"), &[*angle])),
    );
    put(engine, IndexName::Workspace, documents).await;
    put_web(engine, vec![embedded(page(500, "word"), &[1.0])]).await;
    check(engine, &within(small), &[1, 2, 3]).await;
    check(engine, &SemanticRequest { limit: 3, ..within(small) }, &[1, 2, 3]).await;
    check(engine, &nearest(), &[500]).await;
    check(engine, &within(organization(3)), &[]).await;
    let of_large = hits(engine, &SemanticRequest { limit: 50, ..within(large) }).await;
    assert_eq!(of_large.len(), 50);
    // A document that changes its owner is hidden from the previous one.
    put(engine, IndexName::Workspace, vec![embedded(file(1, large, "word"), &[90.0])]).await;
    check(engine, &within(small), &[2, 3]).await;
}

pub async fn documents_without_vectors_of_the_space_are_no_hits(engine: &dyn SearchEngine) {
    let other = in_space(OTHER_SPACE, vec![at(1.0)], page(3, "word"));
    put_web(engine, vec![embedded(page(1, "word"), &[30.0]), page(2, "word"), other]).await;
    check(engine, &nearest(), &[1]).await;
    check(engine, &SemanticRequest { space: OTHER_SPACE, ..nearest() }, &[3]).await;
    check(engine, &SemanticRequest { space: VectorSpace(7), ..nearest() }, &[]).await;
    // Documents that are embedded later become hits.
    put_web(engine, vec![embedded(page(2, "word"), &[20.0]), embedded(page(3, "word"), &[10.0])]).await;
    check(engine, &nearest(), &[3, 2, 1]).await;
    check(engine, &SemanticRequest { space: OTHER_SPACE, ..nearest() }, &[]).await;
}

pub async fn changes_apply_to_vectors(engine: &dyn SearchEngine) {
    put_web(engine, [1, 2, 3].map(|number| embedded(page(number, "word"), &[number as f32 * 20.0])).into()).await;
    check(engine, &nearest(), &[1, 2, 3]).await;
    put_web(engine, vec![embedded(page(1, "word"), &[70.0])]).await;
    check(engine, &nearest(), &[2, 3, 1]).await;
    // The vectors are part of the document: a put without vectors removes them.
    put_web(engine, vec![page(2, "word")]).await;
    check(engine, &nearest(), &[3, 1]).await;
    assert_eq!(search(engine, &request("word")).await.total, 3);
    engine.apply(IndexName::Web, vec![Change::Remove { doc_id: id(3) }]).await.expect("a removal");
    check(engine, &nearest(), &[1]).await;
    put_web(engine, vec![embedded(page(3, "word"), &[5.0]), page(3, "word")]).await;
    check(engine, &nearest(), &[1]).await;
    engine.clear(IndexName::Web).await.expect("cleared");
    check(engine, &nearest(), &[]).await;
    put_web(engine, vec![embedded(page(2, "word"), &[15.0])]).await;
    check(engine, &nearest(), &[2]).await;
}

pub async fn spaces_of_different_dimensions_coexist(engine: &dyn SearchEngine) {
    let long = |nearness: f32| quantized(&std::array::from_fn::<f32, 40, _>(|at| if at == 7 { nearness } else { 0.3 }));
    let wide = |number, nearness| in_space(OTHER_SPACE, vec![long(nearness)], page(number, "word"));
    put_web(engine, vec![embedded(page(1, "word"), &[30.0]), embedded(page(2, "word"), &[20.0])]).await;
    put_web(engine, vec![wide(3, 2.0), wide(4, 5.0)]).await;
    let other = SemanticRequest { space: OTHER_SPACE, vector: long(9.0), ..nearest() };
    check(engine, &nearest(), &[2, 1]).await;
    check(engine, &other, &[4, 3]).await;
    // One document after another moves to the other space.
    put_web(engine, vec![wide(1, 7.0)]).await;
    check(engine, &nearest(), &[2]).await;
    check(engine, &other, &[1, 4, 3]).await;
    // A vector of the wrong length is near to nothing.
    check(engine, &SemanticRequest { vector: long(9.0), ..nearest() }, &[]).await;
}

pub async fn nearest_are_found_among_many(engine: &dyn SearchEngine) {
    const CLUSTERS: u32 = 20;
    const DOCUMENTS: u32 = 2_500;
    let random = |seed: u32, at: u32| {
        let hash = (seed.wrapping_mul(0x9e37_79b9) ^ at.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
        ((hash ^ (hash >> 15)).wrapping_mul(0x27d4_eb2f) >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let vector = |seed: u32| {
        let components = (0..64).map(|at| random(seed % CLUSTERS, at) + 0.7 * random(1_000 + seed, at));
        quantized(&components.collect::<Vec<_>>())
    };
    let document = |seed: u32| in_space(SPACE, vec![vector(seed)], page(u128::from(seed), "word"));
    put_web(engine, (0..DOCUMENTS).map(document).collect()).await;
    let (mut found, mut expected) = (0, 0);
    for seed in DOCUMENTS..DOCUMENTS + 10 {
        let request = SemanticRequest { vector: vector(seed), limit: 10, ..nearest() };
        let mut exact: Vec<_> =
            (0..DOCUMENTS).map(|seed| (vector(seed).cosine(&request.vector), id(u128::from(seed)))).collect();
        exact.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let hits = hits(engine, &request).await;
        assert_eq!(hits.len(), 10);
        found += exact[..10].iter().filter(|(_, id)| hits.iter().any(|hit| hit.doc_id == *id)).count();
        expected += 10;
    }
    assert!(found * 100 >= expected * 95, "{found} of {expected}");
}

pub async fn hostile_vectors_are_indexed(engine: &dyn SearchEngine) {
    let wave = |seed: u32, length: u32| {
        quantized(&(0..length).map(|at| ((at + 1) as f32 * (seed as f32 + 0.37)).sin()).collect::<Vec<_>>())
    };
    let space = |number: u64| VectorSpace(0xfeed_0000_0000_0100 + number);
    let documents = vec![
        in_space(SPACE, Vec::new(), page(1, "word")),
        in_space(space(1), vec![wave(1, 4_096), wave(2, 4_096)], page(2, "word")),
        in_space(SPACE, (0..3_000).map(|seed| at(90.0 + seed as f32 / 100.0)).collect(), page(3, "word")),
        in_space(space(2), vec![quantized(&[-1.0])], page(4, "word")),
        in_space(VectorSpace(0), vec![at(10.0)], page(5, "word")),
        in_space(VectorSpace(u64::MAX), vec![at(10.0)], page(6, "word")),
    ];
    put_web(engine, documents).await;
    check(engine, &nearest(), &[3]).await;
    let wide = SemanticRequest { space: space(1), vector: wave(2, 4_096), ..nearest() };
    check(engine, &wide, &[2]).await;
    assert!((hits(engine, &wide).await[0].cosine - 1.0).abs() < TOLERANCE);
    let single = SemanticRequest { space: space(2), vector: quantized(&[0.1]), ..nearest() };
    assert!((hits(engine, &single).await[0].cosine + 1.0).abs() < TOLERANCE);
    check(engine, &SemanticRequest { space: VectorSpace(0), ..nearest() }, &[5]).await;
    check(engine, &SemanticRequest { space: VectorSpace(u64::MAX), limit: 1, ..nearest() }, &[6]).await;
    check(engine, &SemanticRequest { vector: wave(3, 8_192), ..nearest() }, &[]).await;
    assert_eq!(search(engine, &request("word")).await.total, 6);
}

pub async fn vectors_do_not_affect_word_search(engine: &dyn SearchEngine) {
    let bodies = ["copper pipe", "copper valve and a pump", "brass", "a pipe of brass", "copper copper tap"];
    let documents = |embed: bool| {
        let document = |(body, number): (&&str, u128)| match embed {
            true => embedded(page(number, body), &[number as f32, 30.0, 60.0]),
            false => page(number, body),
        };
        bodies.iter().zip(1..).map(document).collect::<Vec<_>>()
    };
    let requests = [request("copper pipe"), crate::FirstStageRequest { exact_phrase: true, ..request("copper valve") }];
    put_web(engine, documents(false)).await;
    let mut before = Vec::new();
    for request in &requests {
        before.push(search(engine, request).await);
    }
    put_web(engine, documents(true)).await;
    for (request, before) in requests.iter().zip(before) {
        let after = search(engine, request).await;
        assert_eq!(after.hits, before.hits);
        assert_eq!(after.total, before.total);
        assert_eq!(after.statistics, before.statistics);
    }
    assert_eq!(engine.document_count(IndexName::Web).await.expect("a count"), bodies.len() as u64);
}
