//! Passages that are nearest to the query.

use model::CaptureId;
use retrieval_core::blend;
use retrieval_core::embeddings::QuantizedVector;

use super::super::Search;
use super::super::candidate::Candidate;
use crate::App;

/// Nearest passages of a document that are candidates for quotes.
const NEAREST: usize = 10;

impl App {
    /// Orders the passages of the candidates by words and by meaning. Candidates without vectors keep their order.
    pub(in super::super) async fn choose_passages(&self, search: &Search<'_>, best: &mut [Candidate]) {
        let Some(semantic) = &self.semantic else { return };
        let Some(Some(query)) = search.vector.get() else { return };
        let near = best.iter().filter(|candidate| candidate.cosine().is_some());
        let capture_ids: Vec<CaptureId> = near.map(|candidate| candidate.document.state.capture_id).collect();
        if capture_ids.is_empty() || search.is_out_of_time() {
            return;
        }
        let loading = self.store.load_vectors(search.organization_id, capture_ids, semantic.model.clone());
        let vectors = match loading.await {
            Ok(vectors) => vectors,
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "vectors of passages cannot be read");
                return;
            }
        };
        for vectors in vectors {
            let of_capture = |candidate: &&mut Candidate| candidate.document.state.capture_id == vectors.capture_id;
            let Some(candidate) = best.iter_mut().find(of_capture) else { continue };
            let cosines = vectors.passages.into_iter().filter_map(|passage| {
                let vector = QuantizedVector::from_codes(passage.codes)?;
                Some((usize::try_from(passage.ordinal).ok()?, vector.cosine(query)))
            });
            let nearest = nearest(cosines.collect());
            if candidate.trace.lexical.is_none_or(|place| place.score <= 0.0) {
                // No word of the query is in what ranking read: the nearest passages are all that is known.
                candidate.passages = nearest;
                candidate.complete = true;
            } else {
                let words = std::mem::take(&mut candidate.passages);
                candidate.passages = blend::fuse(&[words, nearest]).into_iter().map(|(ordinal, _)| ordinal).collect();
            }
        }
    }
}

/// Returns the ordinals of the passages with the highest cosines, best first.
fn nearest(mut cosines: Vec<(usize, f32)>) -> Vec<usize> {
    cosines.sort_by(|(one, cosine), (other, best)| best.total_cmp(cosine).then(one.cmp(other)));
    cosines.into_iter().take(NEAREST).map(|(ordinal, _)| ordinal).collect()
}
