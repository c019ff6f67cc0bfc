//! Semantic leg of a search: the documents that are nearest to the query in meaning.

mod calibration;
mod index_models;
mod lookup_pause;
mod passages;
mod query_vectors;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use engine::{Filters, FirstStageRequest, Hit, SearchEngine, SemanticHit, SemanticRequest};
use model::DocId;
use models::embedding::Embedder;
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};
use retrieval_core::fusion::{Calibration, Tail};

use calibration::KnownCalibration;
use index_models::ReplacedIndexes;
pub(super) use passages::by_both;
use query_vectors::QueryVectors;

use super::candidate::SemanticList;
use super::stage::Stage;
use super::{LOAD_RESERVE, Search, SearchRequest};
use crate::App;

/// Fewest documents of a list of nearest ones. A list that most of the lexical results are in tells how far the model agrees with
/// the words, and scores them by meaning too.
const LISTED: usize = 100;

/// Model of the semantic leg, with the vectors of recent queries.
pub(crate) struct Semantic {
    vectors: QueryVectors,
    /// Version of the model, as vectors are stored by.
    model: String,
    space: VectorSpace,
    calibration: KnownCalibration,
    replaced: ReplacedIndexes,
}

/// The nearest documents of one collection.
#[derive(Default)]
pub(super) struct Nearest {
    hits: Vec<SemanticHit>,
    /// Number of documents that were requested.
    limit: usize,
    /// True if only documents that meet filters could be listed.
    is_filtered: bool,
    /// Number of the first documents that become candidates, whatever their words.
    candidates: usize,
    /// Quality of the model, if it is known.
    calibration: Option<Calibration>,
}

impl Semantic {
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        let model = embedder.version().to_owned();
        Self {
            space: VectorSpace::of(&model),
            vectors: QueryVectors::new(embedder),
            calibration: KnownCalibration::default(),
            replaced: ReplacedIndexes::default(),
            model,
        }
    }
}

impl Nearest {
    /// Adds documents that the lexical search did not find, behind the others.
    pub fn extend(&self, lexical: &mut Vec<Hit>) {
        let known: HashSet<DocId> = lexical.iter().map(|hit| hit.doc_id).collect();
        let nearest = self.hits.iter().take(self.candidates);
        let others = nearest.filter(|hit| !known.contains(&hit.doc_id));
        lexical.extend(others.map(|hit| Hit { doc_id: hit.doc_id, score: 0.0 }));
    }

    /// Returns true if there are listed documents that are no candidates, or may be others behind a full list.
    pub fn has_more(&self) -> bool {
        self.hits.len() > self.candidates || (self.limit > 0 && self.hits.len() >= self.limit)
    }

    /// Returns the place and the cosine of each document.
    pub fn by_id(&self) -> HashMap<DocId, (usize, f32)> {
        let places = self.hits.iter().enumerate();
        places.map(|(place, hit)| (hit.doc_id, (place, hit.cosine))).collect()
    }

    /// Returns the list, given the number of documents in the collection and of those that match by words and meet the filters.
    pub fn list(&self, documents: u64, matching: u64) -> Option<SemanticList> {
        let floor = self.hits.last()?.cosine;
        let listed = self.hits.len();
        let cosines: Vec<f32> = self.hits.iter().map(|hit| hit.cosine).collect();
        // Of all documents of the collection even if there are filters: the more there are, the nearer is one by chance.
        let tail = Tail::of(cosines, if listed < self.limit { listed as u64 } else { documents });
        let documents = match self.is_filtered {
            _ if listed < self.limit => listed as u64,
            // Fewer than meet the filters, but more than are listed: the model is trusted less, never more.
            true => matching.max(listed as u64 + 1),
            false => documents,
        };
        Some(SemanticList { listed, documents, floor, tail, calibration: self.calibration })
    }
}

impl App {
    /// Returns the nearest documents of the lexical request's collection that meet `filters`, which are built only if there is a
    /// semantic leg. A failure costs the search that leg only.
    pub(super) async fn nearest(
        &self,
        engine: &dyn SearchEngine,
        search: &Search<'_>,
        lexical: &FirstStageRequest,
        filters: impl FnOnce() -> Filters,
    ) -> Nearest {
        let Some(semantic) = self.semantic.as_ref().filter(|_| is_semantic(search.request)) else {
            return Nearest::default();
        };
        let Some(vector) = self.query_vector(search).await else { return Nearest::default() };
        let request = SemanticRequest {
            collection: lexical.collection,
            space: semantic.space,
            vector: vector.as_ref().clone(),
            filters: filters(),
            limit: lexical.limit.max(LISTED),
        };
        let is_filtered = request.filters != Filters::default();
        match search.request.deadline.earlier(LOAD_RESERVE).within(self.ask_nearest(engine, semantic, &request)).await {
            Some(Some(hits)) => {
                let calibration = semantic.calibration.of(&self.store, &semantic.model).await;
                Nearest { hits, limit: request.limit, is_filtered, candidates: lexical.limit, calibration }
            }
            Some(None) => {
                search.lack_semantic();
                Nearest::default()
            }
            None => {
                search.degrade();
                Nearest::default()
            }
        }
    }

    /// Returns the nearest documents; `None` if the engine fails, or if there are none since the index has the vectors of another model.
    async fn ask_nearest(
        &self,
        engine: &dyn SearchEngine,
        semantic: &Semantic,
        request: &SemanticRequest,
    ) -> Option<Vec<SemanticHit>> {
        let asking = tokio::time::timeout(self.options.engine_timeout, engine.semantic(request));
        match Stage::Semantic.measure(asking).await {
            Ok(Ok(hits)) if hits.is_empty() => {
                let is_replaced = semantic.replaced.has(&self.store, request.collection.index(), &semantic.model);
                (!is_replaced.await).then_some(hits)
            }
            Ok(Ok(hits)) => Some(hits),
            Ok(Err(error)) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the semantic search failed");
                None
            }
            Err(_) => {
                tracing::warn!("the semantic search took too long");
                None
            }
        }
    }

    /// Returns the vector of the query; `None` also if the model knows nothing of it, which is no failure. All collections of a search
    /// share one call of the model.
    async fn query_vector(&self, search: &Search<'_>) -> Option<Arc<QuantizedVector>> {
        let semantic = self.semantic.as_ref()?;
        let embed = async || {
            let deadline = search.request.deadline.earlier(LOAD_RESERVE);
            let embedding = Stage::Embed.measure(semantic.vectors.of(search.organization_id, &search.request.query));
            match deadline.within(embedding).await {
                Some(Ok(vector)) => vector,
                Some(Err(_)) => {
                    search.lack_semantic();
                    None
                }
                None => {
                    search.degrade();
                    None
                }
            }
        };
        search.vector.get_or_init(embed).await.clone()
    }
}

/// Returns true if a search has a semantic leg. An exact match is decided by words alone.
fn is_semantic(request: &SearchRequest) -> bool {
    !request.exact_match
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    /// Returns a list of this many documents, of at most 100, of which 20 become candidates.
    fn nearest(listed: u128, is_filtered: bool) -> Nearest {
        let hit = |number| SemanticHit { doc_id: DocId(Uuid::from_u128(number)), cosine: 0.5 };
        let hits = (0..listed).map(hit).collect();
        Nearest { hits, limit: 100, is_filtered, candidates: 20, calibration: None }
    }

    /// Returns the number of documents that could be in a list of this many in a collection of 5,000.
    fn population(listed: u128, is_filtered: bool, matching: u64) -> Option<u64> {
        nearest(listed, is_filtered).list(5_000, matching).map(|list| list.documents)
    }

    #[test]
    fn documents_are_those_that_could_be_listed() {
        assert_eq!(population(0, false, 7), None);
        assert_eq!(population(100, false, 7), Some(5_000));
        assert_eq!(population(30, false, 7), Some(30), "all of them are listed");
        assert_eq!(population(30, true, 7), Some(30));
        assert_eq!(population(100, true, 700), Some(700));
        assert_eq!(population(100, true, 7), Some(101), "a full list is not all of them");
    }

    #[test]
    fn documents_that_are_no_candidates_are_more() {
        assert!(!Nearest::default().has_more(), "without a semantic leg");
        for (listed, expected) in [(0, false), (20, false), (21, true), (100, true)] {
            assert_eq!(nearest(listed, false).has_more(), expected, "{listed}");
        }
        let all_are_candidates = |listed| Nearest { candidates: 100, ..nearest(listed, false) }.has_more();
        assert_eq!([99, 100].map(all_are_candidates), [false, true], "behind a full list may be others");
    }
}
