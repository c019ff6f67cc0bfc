//! Conformance suite for engines. Each function takes an empty engine and panics if it violates the contract of
//! [`SearchEngine`].
//!
//! ```text
//! engine::conformance_tests!(Box::new(MemoryEngine::default()));
//! ```

mod changes;
mod filters;
mod hostile;
mod lost_vectors;
mod phrases;
mod ranking;
mod scopes;
mod semantic;

pub use changes::*;
pub use filters::*;
pub use hostile::*;
pub use lost_vectors::*;
pub use phrases::*;
pub use ranking::*;
pub use scopes::*;
pub use semantic::*;

use model::{Collection, DocId, IndexName, OrganizationId};
use uuid::Uuid;

use crate::{Change, Filters, FirstStageRequest, FirstStageResponse, IndexDocument, SearchEngine};

/// Generates one `#[tokio::test]` per function of the suite.
///
/// The expression returns a value that derefs to an empty engine and owns its resources, such as a temporary directory.
/// After `where available` it returns an `Option`; without an engine the tests pass without doing anything, and the
/// test runner has to report that.
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr) => {
        $crate::conformance_tests!(where available Some($make));
    };
    (where available $make:expr) => {
        $crate::conformance_tests!(@each $make;
            put_replaces_and_remove_deletes changes_are_idempotent changes_apply_in_order clear_affects_one_index
            generations_are_kept_per_index snapshots_change_with_the_index
            empty_index_returns_no_hits
            all_words_are_optional rare_words_rank_higher title_words_rank_higher inflected_words_match
            each_language_uses_its_stemmer best_matching_text_counts sixteen_texts_are_searched long_text_does_not_crowd_out_short_one
            ties_are_broken_by_document_id
            limit_and_total scripts_without_spaces_match compounds_match
            phrase_words_are_adjacent_and_in_order phrases_are_folded_but_not_stemmed phrases_may_consist_of_stop_words
            phrases_do_not_cross_fields phrases_pass_over_addresses_of_links any_of_several_phrases_matches
            phrases_match_in_scripts_without_spaces
            language_filter_is_applied country_filter_is_applied published_after_is_strict published_before_is_strict
            paths_match_at_borders_of_segments domains_match_subdomains_only
            excluded_domains_take_precedence labels_match_exactly labels_combine_with_other_filters filters_combine
            unknown_values_are_counted_by_filter unknown_values_are_counted_within_the_request
            organizations_are_isolated statistics_are_per_scope statistics_cover_rerank_text
            statistics_follow_changes statistics_ignore_filters
            query_syntax_is_not_interpreted long_queries_never_fail queries_without_words_match_nothing
            hostile_documents_are_indexed
            nearest_documents_rank_first best_passage_counts equally_near_documents_are_ordered_by_id
            equal_vector_searches_have_equal_hits filters_apply_to_vector_search vectors_of_other_organizations_are_no_hits
            documents_without_vectors_of_the_space_are_no_hits changes_apply_to_vectors spaces_of_different_dimensions_coexist
            nearest_are_found_among_many hostile_vectors_are_indexed vectors_do_not_affect_word_search
        );
    };
    (@each $make:expr; $($name:ident)*) => {
        $(#[tokio::test]
        async fn $name() {
            if let Some(engine) = $make {
                $crate::conformance::$name(&*engine).await;
            }
        })*
    };
}

/// Empty list of hits.
const NONE: [DocId; 0] = [];

fn id(number: u128) -> DocId {
    // Varies both halves, so that ordering by only one of them fails a test.
    DocId(Uuid::from_u128(number | ((number % 7) << 100)))
}

/// Returns an English web document on `example.com`.
fn page(number: u128, body: &str) -> IndexDocument {
    IndexDocument {
        host: "example.com".to_owned(),
        body: body.to_owned(),
        language: Some("en".to_owned()),
        ..IndexDocument::new(id(number), Collection::Web)
    }
}

fn file(number: u128, owner: OrganizationId, body: &str) -> IndexDocument {
    IndexDocument { collection: Collection::Workspace(owner), host: String::new(), ..page(number, body) }
}

fn organization(number: u128) -> OrganizationId {
    OrganizationId(Uuid::from_u128(0xface_0000_0000 + number))
}

async fn put(engine: &dyn SearchEngine, index: IndexName, documents: Vec<IndexDocument>) {
    let changes = documents.into_iter().map(|document| Change::Put(Box::new(document))).collect();
    engine.apply(index, changes).await.expect("changes apply");
}

async fn put_web(engine: &dyn SearchEngine, documents: Vec<IndexDocument>) {
    put(engine, IndexName::Web, documents).await;
}

fn request(text: &str) -> FirstStageRequest {
    FirstStageRequest {
        collection: Collection::Web,
        texts: vec![text.to_owned()],
        exact_phrase: false,
        rerank_text: None,
        filters: Filters::default(),
        limit: 100,
    }
}

async fn search(engine: &dyn SearchEngine, request: &FirstStageRequest) -> FirstStageResponse {
    let response = engine.first_stage(request).await.expect("a search never fails");
    assert!(response.hits.len() <= request.limit);
    assert!(response.total >= response.hits.len() as u64);
    assert!(response.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "hits are best first");
    assert!(response.hits.iter().all(|hit| hit.score.is_finite()));
    response
}

/// Returns the ids of all matches, best first.
async fn found(engine: &dyn SearchEngine, request: &FirstStageRequest) -> Vec<DocId> {
    let response = search(engine, request).await;
    assert_eq!(response.total, response.hits.len() as u64, "total of {:?}", request.texts);
    response.hits.iter().map(|hit| hit.doc_id).collect()
}

async fn found_by(engine: &dyn SearchEngine, text: &str) -> Vec<DocId> {
    found(engine, &request(text)).await
}

async fn found_by_phrase(engine: &dyn SearchEngine, text: &str) -> Vec<DocId> {
    found(engine, &FirstStageRequest { exact_phrase: true, ..request(text) }).await
}
