//! Fusion of lexical and semantic evidence.
//!
//! A semantic score is worth as much as the model is good, and nobody says how good it is on a collection. The best lexical
//! results tell: a good model ranks them high too, a model without meaning ranks them like any other document. The agreement is
//! measured as in Fisher's combined probability test ("Statistical Methods for Research Workers", 1925): the mean of `-ln p` over
//! the best lexical results, where `p` is the share of the collection that the model ranks as high. It is about 1 by chance.

/// Name of the fusion in the version of the ranker; changes with every change of an order.
pub const FUSION_VERSION: &str = "fusion_v1";

/// Lexical results that are compared.
const COMPARED: usize = 10;
/// Agreement up to which the model counts as random.
const CHANCE: f64 = 1.3;
/// Agreement beyond [`CHANCE`] at which the model has its full weight.
const SPAN: f64 = 2.0;
/// Weight of the best semantic score, relative to the best lexical score, of a model with full agreement.
const FULL_WEIGHT: f64 = 1.0;
/// Comparisons that are added to those of few results, each with half of the full agreement.
const PRIOR: f64 = 2.0;

/// Returns the weight of a model's scores, relative to the lexical ones, from 0 to 1.
///
/// `places` are those of the lexical results, best first, among the documents nearest to the query, from 0; `None` for a result
/// that is not among the `listed` nearest. `documents` is the size of the collection.
pub fn weight(places: impl Iterator<Item = Option<usize>>, listed: usize, documents: u64) -> f64 {
    let documents = (documents as f64).max(listed as f64).max(1.0);
    // A result that is not listed is somewhere behind.
    let unlisted = ((listed as f64 + documents) / 2.0 / documents).min(1.0);
    let mut sum = PRIOR * (CHANCE + SPAN / 2.0);
    let mut count = PRIOR;
    for place in places.take(COMPARED) {
        let share = place.map_or(unlisted, |place| (place as f64 + 1.0) / documents);
        sum -= share.min(1.0).ln();
        count += 1.0;
    }
    FULL_WEIGHT * ((sum / count - CHANCE) / SPAN).clamp(0.0, 1.0)
}

/// Returns the part of the range from `floor` to `best` that a cosine reaches, from 0 to 1.
pub fn share(cosine: f32, floor: f32, best: f32) -> f64 {
    let range = f64::from(best) - f64::from(floor);
    // A list of equal cosines says that all are as near as the best.
    if range > 0.0 { ((f64::from(cosine) - f64::from(floor)) / range).clamp(0.0, 1.0) } else { 1.0 }
}
