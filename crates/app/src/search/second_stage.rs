//! Who has the last word on the order of candidates.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use models::ModelError;
use models::scoring::Reranker;
use retrieval_core::rerank::RANKER_VERSION;

use super::rank::Assessed;

/// The order in which the index found the results, where nobody could do better.
const FIRST_STAGE_ORDER: &str = "first_stage_order_v1";

/// A model that is away is told of in the log this often at most.
const LOG_PAUSE: Duration = Duration::from_secs(60);

#[derive(Clone, Default)]
pub enum SecondStage {
    /// The lexical ranker.
    #[default]
    Lexical,
    /// A model, asked about the best passages that the lexical ranker finds.
    Model(Arc<dyn Reranker>),
    /// Nobody: results stand as the index found them.
    None,
}

/// Who ordered the results of one search.
pub struct Order {
    pub ranker_version: String,
    /// Nobody did.
    pub unavailable: bool,
}

/// Remembers when a failure was told of last.
#[derive(Default)]
pub struct FailureLog(Mutex<Option<Instant>>);

impl SecondStage {
    /// Whether it needs the text of every candidate.
    pub fn reads_texts(&self) -> bool {
        matches!(self, SecondStage::Model(_))
    }

    /// Puts the candidates into their final order. Both lists are ordered by the same ranker.
    pub async fn order(&self, query: &str, lists: &mut [Option<Assessed>; 2], log: &FailureLog) -> Order {
        match self {
            SecondStage::Lexical => return Order { ranker_version: RANKER_VERSION.to_owned(), unavailable: false },
            SecondStage::None => {}
            SecondStage::Model(model) => match score(model.as_ref(), query, lists).await {
                Ok(scores) => {
                    for (list, scores) in lists.iter_mut().flatten().zip(scores) {
                        list.order_by(&scores);
                    }
                    return Order { ranker_version: model.version().to_owned(), unavailable: false };
                }
                Err(error) => log.tell(&error),
            },
        }
        lists.iter_mut().flatten().for_each(Assessed::order_by_first_stage);
        Order { ranker_version: FIRST_STAGE_ORDER.to_owned(), unavailable: true }
    }
}

/// The scores of each list that is there.
async fn score(model: &dyn Reranker, query: &str, lists: &[Option<Assessed>; 2]) -> Result<Vec<Vec<f32>>, ModelError> {
    let texts: Vec<Vec<String>> = lists.iter().flatten().map(Assessed::texts).collect();
    futures_util::future::try_join_all(texts.iter().map(|texts| model.score(query, texts))).await
}

impl FailureLog {
    fn tell(&self, error: &ModelError) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|at| at.elapsed() >= LOG_PAUSE) {
            *told = Some(Instant::now());
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "the reranker failed: results stand in first-stage order");
        }
    }
}
