//! Passages that are nearest to the query.

use std::collections::HashMap;
use std::sync::Arc;

use docstore::CaptureVectors;
use model::CaptureId;
use retrieval_core::blend;
use retrieval_core::embeddings::QuantizedVector;

use super::super::Search;
use super::super::candidate::Candidate;
use super::super::vectors::RankedDocument;
use crate::App;
use crate::error::Result;

/// Nearest passages of a document that are candidates for quotes.
const NEAREST: usize = 10;

/// Documents whose vectors are in memory at a time.
const STEP: usize = 16;
/// Maximum number of passages of a document that have vectors.
const EMBEDDED_PASSAGES: usize = 2_000;
/// Bytes of a vector beside its components, which are in memory twice while they are decoded.
const VECTOR_OVERHEAD: usize = 64;

impl App {
    /// Orders the passages of the wanted candidates by words and by meaning. Candidates without vectors keep their order, and so do those
    /// with words of the query where the model has no weight.
    ///
    /// # Errors
    /// Those of a computation. A failure of the docstore costs the search these vectors only.
    pub(in super::super) async fn choose_passages(
        &self,
        search: &Search<'_>,
        candidates: &mut [Candidate],
        is_wanted: impl Fn(&Candidate) -> bool,
    ) -> Result<()> {
        let Some(semantic) = &self.semantic else { return Ok(()) };
        let Some(Some(query)) = search.vector.get() else { return Ok(()) };
        let counts = |candidate: &&Candidate| {
            candidate.cosine().is_some() && (candidate.meaning > 0.0 || !candidate.is_match) && is_wanted(candidate)
        };
        let near = candidates.iter().filter(counts);
        let near: Vec<&RankedDocument> = near.map(|candidate| candidate.document.as_ref()).collect();
        let mut nearest: HashMap<CaptureId, Vec<usize>> = HashMap::with_capacity(near.len());
        for step in near.chunks(STEP) {
            if search.is_out_of_time() {
                break;
            }
            let vectors = step.iter().map(|document| (document.passages() as usize).min(EMBEDDED_PASSAGES));
            let bytes = vectors.sum::<usize>() * (2 * query.dimensions() + VECTOR_OVERHEAD);
            let _memory = self.contents.reserve(search.organization_id, bytes).await;
            let capture_ids = step.iter().map(|document| document.state.capture_id).collect();
            let loading = self.store.load_vectors(search.organization_id, capture_ids, semantic.model.clone());
            let vectors = match loading.await {
                Ok(vectors) => vectors,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "vectors of passages cannot be read");
                    break;
                }
            };
            let query = Arc::clone(query);
            let comparing = self.compute(search, move |_| {
                let of_capture = |vectors: CaptureVectors| (vectors.capture_id, nearest_passages(vectors, &query));
                vectors.into_iter().map(of_capture).collect::<Vec<_>>()
            });
            nearest.extend(comparing.await?);
        }
        for candidate in candidates {
            if let Some(nearest) = nearest.get(&candidate.document.state.capture_id) {
                add_nearest(candidate, nearest.clone());
            }
        }
        Ok(())
    }
}

/// Adds the nearest passages to those with words of the query; they are all that is known if there are none.
fn add_nearest(candidate: &mut Candidate, nearest: Vec<usize>) {
    candidate.passages = match candidate.is_match {
        true => by_both(std::mem::take(&mut candidate.passages), nearest.clone()),
        false => nearest.clone(),
    };
    candidate.nearest = nearest;
}

/// Orders passages by words and by meaning, given those of each, best first.
pub(in super::super) fn by_both(words: Vec<usize>, nearest: Vec<usize>) -> Vec<usize> {
    blend::fuse(&[words, nearest]).into_iter().map(|(passage, _)| passage).collect()
}

/// Returns the ordinals of the passages that are nearest to the query, best first.
fn nearest_passages(vectors: CaptureVectors, query: &QuantizedVector) -> Vec<usize> {
    let cosines = vectors.passages.into_iter().filter_map(|passage| {
        let vector = QuantizedVector::from_codes(passage.codes)?;
        Some((usize::try_from(passage.ordinal).ok()?, vector.cosine(query)))
    });
    nearest(cosines.collect())
}

/// Returns the ordinals of the passages with the highest cosines, best first.
fn nearest(mut cosines: Vec<(usize, f32)>) -> Vec<usize> {
    cosines.sort_by(|(one, cosine), (other, best)| best.total_cmp(cosine).then(one.cmp(other)));
    cosines.into_iter().take(NEAREST).map(|(ordinal, _)| ordinal).collect()
}
