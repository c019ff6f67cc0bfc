//! Vectors of different quality.

use crate::bench::labelled::Labelled;
use crate::bench::random::Random;
use std::collections::HashMap;
use std::sync::Arc;

/// Number of components of generated vectors.
const DIMENSIONS: usize = 384;

/// Source of vectors of length 1.
pub trait Vectors: Send + Sync {
    /// Returns the vector of each text.
    ///
    /// # Errors
    ///
    /// Returns an error if a model fails.
    fn embed(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>>;
}

/// Random vectors: equal for equal texts, otherwise without any relation to them.
pub struct Noise {
    pub seed: u64,
}

impl Vectors for Noise {
    fn embed(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| normalized(random(self.seed, text, DIMENSIONS))).collect())
    }
}

/// Mean of a random vector per word. Texts with common words are near each other, so these vectors know words, and not
/// their meaning or rarity.
pub struct Words {
    pub seed: u64,
}

impl Vectors for Words {
    fn embed(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>> {
        let vectors = texts.iter().map(|text| {
            let mut sum = random(self.seed, "", DIMENSIONS);
            let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
            for word in words {
                add(&mut sum, &random(self.seed, &word.to_lowercase(), DIMENSIONS), 1.0);
            }
            normalized(sum)
        });
        Ok(vectors.collect())
    }
}

/// Vectors of a model that knows what queries mean, in place of one that was trained: those of others, and a query is moved
/// towards the documents that were judged relevant to it (Rocchio's formula).
pub struct Judged {
    others: Arc<dyn Vectors>,
    /// By text of the query.
    relevant: HashMap<String, Vec<f32>>,
    /// Length of the mean of the relevant documents, relative to the vector of the query.
    share: f32,
}

impl Judged {
    /// # Errors
    ///
    /// Returns an error if the other vectors fail.
    pub fn new(labelled: &Labelled, others: Arc<dyn Vectors>, share: f32) -> anyhow::Result<Self> {
        let documents: HashMap<&str, String> =
            labelled.collection.documents.iter().map(|document| (document.id.as_str(), document.whole())).collect();
        let mut relevant = HashMap::new();
        for query in &labelled.queries {
            let judged = labelled.judgements.relevant(&query.id);
            let texts: Vec<String> = judged.filter_map(|id| documents.get(id).cloned()).collect();
            let mut mean = vec![0.0; DIMENSIONS];
            others.embed(&texts)?.iter().for_each(|vector| add(&mut mean, vector, 1.0));
            relevant.insert(query.text.clone(), normalized(mean));
        }
        Ok(Self { others, relevant, share })
    }
}

impl Vectors for Judged {
    fn embed(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>> {
        let mut vectors = self.others.embed(texts)?;
        for (vector, text) in vectors.iter_mut().zip(texts) {
            if let Some(relevant) = self.relevant.get(text) {
                add(vector, relevant, self.share);
                *vector = normalized(std::mem::take(vector));
            }
        }
        Ok(vectors)
    }
}

/// Vectors with added noise.
pub struct Noisy {
    pub vectors: Arc<dyn Vectors>,
    /// Length of the noise, relative to that of the vectors.
    pub share: f32,
    pub seed: u64,
}

impl Vectors for Noisy {
    fn embed(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>> {
        let mut vectors = self.vectors.embed(texts)?;
        for (vector, text) in vectors.iter_mut().zip(texts) {
            let noise = normalized(random(self.seed, text, vector.len()));
            add(vector, &noise, self.share);
            *vector = normalized(std::mem::take(vector));
        }
        Ok(vectors)
    }
}

fn add(sum: &mut [f32], other: &[f32], factor: f32) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += factor * other);
}

/// Returns nearly normal components that depend on seed and text only.
fn random(seed: u64, text: &str, dimensions: usize) -> Vec<f32> {
    // FNV-1a.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut random = Random::new(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // The sum of uniform numbers is nearly normal.
    (0..dimensions).map(|_| (0..4).map(|_| random.unit()).sum::<f64>() as f32 - 2.0).collect()
}

fn normalized(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|component| component * component).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|component| *component /= length);
    vector
}

/// Returns the positions of the `limit` vectors nearest to the query, nearest first.
pub fn exact_ranking(query: &[f32], vectors: &[Vec<f32>], limit: usize) -> Vec<usize> {
    let cosine = |vector: &[f32]| query.iter().zip(vector).map(|(one, other)| one * other).sum::<f32>();
    let mut order: Vec<(f32, usize)> = vectors.iter().enumerate().map(|(at, vector)| (cosine(vector), at)).collect();
    order.sort_by(|(one, at), (other, other_at)| other.total_cmp(one).then(at.cmp(other_at)));
    order.into_iter().take(limit).map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::*;

    fn rank(vectors: &dyn Vectors, query: &str, texts: &[&str]) -> Vec<usize> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let query = vectors.embed(&[query.to_owned()]).unwrap().remove(0);
        exact_ranking(&query, &vectors.embed(&texts).unwrap(), texts.len())
    }

    #[test]
    fn words_bring_texts_together_and_noise_separates_them() {
        let texts = ["tides of the sea", "a red pump", "the pump is red and old"];
        assert_eq!(rank(&Words { seed: 1 }, "red pump", &texts)[..2], [1, 2]);
        assert_eq!(rank(&Noise { seed: 1 }, "a red pump", &texts)[0], 1, "equal texts have equal vectors");
        let little = Noisy { vectors: Arc::new(Words { seed: 1 }), share: 0.1, seed: 2 };
        assert_eq!(rank(&little, "red pump", &texts)[0], 1);
        let vector = little.embed(&["red".to_owned()]).unwrap().remove(0);
        assert!((vector.iter().map(|component| component * component).sum::<f32>() - 1.0).abs() < 1e-3);
    }
}
