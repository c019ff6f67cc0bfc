//! Second stage: the ranker that decides the final order of candidates.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use models::ModelError;
use models::scoring::Reranker;
use retrieval_core::rerank::RANKER_VERSION;

use super::candidate::CandidateList;
use super::rank;

/// Name of the index's own order, the fallback if no ranker is available.
const FIRST_STAGE_ORDER: &str = "first_stage_order_v1";

/// Minimum interval between log entries about a failing model.
const LOG_PAUSE: Duration = Duration::from_secs(60);

#[derive(Clone, Default)]
pub enum SecondStage {
    /// The lexical ranker.
    #[default]
    Lexical,
    /// A model, which scores the best passages that the lexical ranker finds.
    Model(Arc<dyn Reranker>),
    /// No ranker: results keep the order of the index.
    None,
}

/// The ranker that ordered the results of one search.
pub struct Order {
    pub ranker_version: String,
    /// No ranker was available; the results keep the order of the index.
    pub unavailable: bool,
}

/// Time of the last log entry about a failing model.
#[derive(Default)]
pub struct FailureLog(Mutex<Option<Instant>>);

impl SecondStage {
    /// Returns true if ranking needs the text of every candidate.
    pub fn reads_texts(&self) -> bool {
        matches!(self, SecondStage::Model(_))
    }

    /// Sorts the candidates, which the lexical ranker has sorted, into their final order. The same ranker sorts all lists.
    pub async fn order(&self, query: &str, lists: &mut [CandidateList], log: &FailureLog) -> Order {
        match self {
            SecondStage::Lexical => return Order { ranker_version: RANKER_VERSION.to_owned(), unavailable: false },
            SecondStage::None => {}
            SecondStage::Model(model) => match score(model.as_ref(), query, lists).await {
                Ok(scores) => {
                    for (list, scores) in lists.iter_mut().zip(scores) {
                        list.sort_by_model(&scores);
                    }
                    return Order { ranker_version: model.version().to_owned(), unavailable: false };
                }
                Err(error) => log.record(&error),
            },
        }
        lists.iter_mut().for_each(CandidateList::sort_by_first_stage);
        Order { ranker_version: FIRST_STAGE_ORDER.to_owned(), unavailable: true }
    }
}

/// Returns the model's scores for each list, in the order of its candidates.
async fn score(model: &dyn Reranker, query: &str, lists: &[CandidateList]) -> Result<Vec<Vec<f32>>, ModelError> {
    let texts: Vec<Vec<String>> = lists.iter().map(rank::model_texts).collect();
    futures_util::future::try_join_all(texts.iter().map(|texts| model.score(query, texts))).await
}

impl FailureLog {
    fn record(&self, error: &ModelError) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|at| at.elapsed() >= LOG_PAUSE) {
            *last = Some(Instant::now());
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "reranker failed: results keep the first-stage order");
        }
    }
}
