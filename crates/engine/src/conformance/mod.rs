//! What every engine has to do, as tests. Each function takes an empty engine and panics where the
//! engine breaks the contract of [`SearchEngine`](crate::SearchEngine).
//!
//! ```text
//! engine::conformance_tests!(Box::new(MemoryEngine::default()));
//! ```

mod changes;
mod filters;
mod hostile;
mod phrases;
mod ranking;
mod scopes;

pub use changes::*;
pub use filters::*;
pub use hostile::*;
pub use phrases::*;
pub use ranking::*;
pub use scopes::*;

use model::{Collection, DocId, IndexName, OrganizationId};
use uuid::Uuid;

use crate::{Change, Filters, FirstStageAnswer, FirstStageRequest, IndexDocument, SearchEngine};

/// Makes one `#[tokio::test]` of each function of the suite. The expression makes something that points to
/// (`Deref`) an empty engine; it must keep alive with itself what it needs (a temporary folder). After
/// `where available`, it makes an `Option` of that, and the tests do nothing without an engine: whoever runs them has to
/// say so.
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr) => {
        $crate::conformance_tests!(where available Some($make));
    };
    (where available $make:expr) => {
        $crate::conformance_tests!(@each $make;
            put_replace_remove repeated_changes_leave_the_same_index changes_apply_in_order clear_empties_one_index
            an_empty_index_answers
            all_words_are_optional rare_words_weigh_more title_words_weigh_more inflected_words_match
            each_language_matches_by_its_stems rewrites_add_and_the_best_counts a_long_rewrite_does_not_crowd_out_a_short_one
            ties_are_broken_by_document_id
            limit_and_total scripts_without_spaces_match compounds_match
            phrases_are_in_order_and_adjacent phrases_are_not_stemmed_but_folded phrases_of_stop_words
            phrases_stay_in_one_field phrases_in_scripts_without_spaces
            language_filter country_filter published_after_is_strict domains_match_subdomains_only
            excluded_domains_win filters_combine
            organizations_are_isolated statistics_are_those_of_the_scope statistics_cover_the_ranking_text
            statistics_follow_changes statistics_ignore_filters
            queries_are_text long_queries_never_fail queries_without_words_match_nothing
            hostile_documents_are_indexed
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

/// No hits.
const NONE: [DocId; 0] = [];

fn id(number: u128) -> DocId {
    // Spread over both halves, so that an order by only one of them is seen.
    DocId(Uuid::from_u128(number | ((number % 7) << 100)))
}

/// A web document on `example.com`, in English.
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
        ranked_by: None,
        filters: Filters::default(),
        limit: 100,
    }
}

async fn answer(engine: &dyn SearchEngine, request: &FirstStageRequest) -> FirstStageAnswer {
    let answer = engine.first_stage(request).await.expect("a search never fails");
    assert!(answer.hits.len() <= request.limit);
    assert!(answer.total >= answer.hits.len() as u64);
    assert!(answer.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "hits are best first");
    assert!(answer.hits.iter().all(|hit| hit.score.is_finite()));
    answer
}

/// The ids of the hits, best first, and that there are no more.
async fn found(engine: &dyn SearchEngine, request: &FirstStageRequest) -> Vec<DocId> {
    let answer = answer(engine, request).await;
    assert_eq!(answer.total, answer.hits.len() as u64, "total of {:?}", request.texts);
    answer.hits.iter().map(|hit| hit.doc_id).collect()
}

async fn found_by(engine: &dyn SearchEngine, text: &str) -> Vec<DocId> {
    found(engine, &request(text)).await
}

async fn found_by_phrase(engine: &dyn SearchEngine, text: &str) -> Vec<DocId> {
    found(engine, &FirstStageRequest { exact_phrase: true, ..request(text) }).await
}
