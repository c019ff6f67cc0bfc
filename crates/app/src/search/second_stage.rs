//! Second stage: the ranker that decides the final order of candidates.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use models::ModelError;
use models::scoring::Reranker;
use retrieval_core::fusion::FUSION_VERSION;
use retrieval_core::rerank::RANKER_VERSION;

use super::candidate::CandidateList;
use super::{SearchRequest, rank};

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
    /// The model was skipped for lack of time; the results are in the order of the lexical ranker.
    pub skipped: bool,
}

/// Time of the last log entry about a failing model.
#[derive(Default)]
pub struct FailureLog(Mutex<Option<Instant>>);

impl SecondStage {
    /// Returns true if ranking needs the text of every candidate.
    pub fn reads_texts(&self) -> bool {
        matches!(self, SecondStage::Model(_))
    }

    /// Sorts the candidates, which the lexical ranker has sorted, into their final order. The same ranker sorts all lists,
    /// and their scores are comparable. A model scores the best of each list, and the others are left out then.
    pub async fn order(&self, request: &SearchRequest, lists: &mut [CandidateList], log: &FailureLog) -> Order {
        let is_fused = lists.iter().any(|list| list.semantic.is_some());
        let fusion = if is_fused { format!("+{FUSION_VERSION}") } else { String::new() };
        let lexical =
            |skipped| Order { ranker_version: format!("{RANKER_VERSION}{fusion}"), unavailable: false, skipped };
        match self {
            SecondStage::Lexical => return lexical(false),
            SecondStage::None => {}
            SecondStage::Model(model) => match request.deadline.within(score(model.as_ref(), request, lists)).await {
                None => return lexical(true),
                Some(Ok(scores)) => {
                    let mut probabilities = probabilities(&scores);
                    for list in lists {
                        list.candidates.truncate(list.count_for_model(request.max_results));
                        list.sort_by_model(probabilities.by_ref());
                    }
                    let ranker_version = model.version().to_owned();
                    return Order { ranker_version, unavailable: false, skipped: false };
                }
                Some(Err(error)) => log.record(&error, "reranker failed: results keep the first-stage order"),
            },
        }
        let is_blended = lists.iter().filter(|list| !list.candidates.is_empty()).count() > 1;
        for list in lists {
            if is_blended { list.restore_first_stage_order() } else { list.sort_by_first_stage() }
        }
        Order { ranker_version: FIRST_STAGE_ORDER.to_owned(), unavailable: true, skipped: false }
    }
}

/// Returns the model's scores of the best candidates of all lists, in their order. One call, since scores of several are not comparable.
async fn score(model: &dyn Reranker, request: &SearchRequest, lists: &[CandidateList]) -> Result<Vec<f32>, ModelError> {
    let best = lists.iter().flat_map(|list| &list.candidates[..list.count_for_model(request.max_results)]);
    let texts: Vec<String> = best.map(rank::model_text).collect();
    model.score(&request.query, &texts).await
}

/// Converts a model's scores to probabilities. Some models return log-odds, which the logistic function converts.
fn probabilities(scores: &[f32]) -> impl Iterator<Item = f64> {
    let log_odds = scores.iter().any(|score| !(0.0..=1.0).contains(score));
    let probability = move |score: &f32| {
        let score = f64::from(*score);
        if log_odds { 1.0 / (1.0 + (-score).exp()) } else { score }
    };
    scores.iter().map(probability)
}

impl FailureLog {
    pub fn record(&self, error: &ModelError, consequence: &'static str) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|at| at.elapsed() >= LOG_PAUSE) {
            *last = Some(Instant::now());
            let error = error as &dyn std::error::Error;
            tracing::warn!(error, "{consequence}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_odds_become_probabilities() {
        let unchanged: Vec<f64> = probabilities(&[0.25, 1.0]).collect();
        assert_eq!(unchanged, [0.25, 1.0]);
        // One score outside decides for all: they are on one scale.
        let converted: Vec<f64> = probabilities(&[-2.0, 0.0, 0.5, 3.0]).collect();
        assert!(converted.is_sorted() && converted.iter().all(|score| (0.0..=1.0).contains(score)), "{converted:?}");
        assert!((converted[1] - 0.5).abs() < 1e-9);
    }
}
