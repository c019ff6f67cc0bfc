//! Embedder for tests.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::ModelError;
use crate::embedding::{Embedder, TextKind};

/// Number of components.
const DIMENSIONS: usize = 64;

/// Deterministic model: the vector of a text is the sum of the vectors of its words, so texts with equal words are near. A test
/// can break it, hold it back and inspect it.
pub struct TestEmbedder {
    version: String,
    synonyms: Vec<(String, String)>,
    unknown: Vec<String>,
    state: Mutex<State>,
    held: watch::Sender<bool>,
    calls: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    is_down: bool,
    /// Calls with a text that contains one of these words fail.
    rejected: Vec<String>,
    embedded: Vec<(TextKind, String)>,
}

impl Default for TestEmbedder {
    fn default() -> Self {
        Self::new("test_embedder")
    }
}

impl TestEmbedder {
    /// Creates a model. Models of different versions return different vectors.
    pub fn new(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            synonyms: Vec::new(),
            unknown: Vec::new(),
            state: Mutex::default(),
            held: watch::Sender::new(false),
            calls: watch::Sender::new(0),
        }
    }

    /// Gives both words, in lower case, the same vector.
    #[must_use]
    pub fn with_synonyms(mut self, word: &str, other: &str) -> Self {
        self.synonyms.push((word.to_owned(), other.to_owned()));
        self
    }

    /// Makes the model ignore this word, in lower case. A text of such words alone has a vector of zeros.
    #[must_use]
    pub fn without(mut self, word: &str) -> Self {
        self.unknown.push(word.to_owned());
        self
    }

    /// From now on calls fail, as those of an endpoint that cannot be reached.
    pub fn fail(&self) {
        self.state().is_down = true;
    }

    pub fn recover(&self) {
        self.state().is_down = false;
    }

    /// From now on calls with a text that contains this word, in lower case, fail with status 400.
    pub fn reject(&self, word: &str) {
        self.state().rejected.push(word.to_owned());
    }

    /// From now on calls wait for [`release`](Self::release).
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// Returns once `count` calls have begun, counted from its start.
    pub async fn reached(&self, count: usize) {
        // The sender lives as long as this value.
        let _ = self.calls.subscribe().wait_for(|calls| *calls >= count).await;
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> usize {
        *self.calls.borrow()
    }

    /// Returns the texts of this kind that were embedded so far.
    pub fn embedded(&self, kind: TextKind) -> Vec<String> {
        self.state().embedded.iter().filter(|(of, _)| *of == kind).map(|(_, text)| text.clone()).collect()
    }

    /// Returns the vector of a text.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0_f32; DIMENSIONS];
        for word in words(text).filter(|word| !self.unknown.contains(word)) {
            let synonym = self.synonyms.iter().find(|(_, other)| *other == word);
            let word = synonym.map_or(&word, |(word, _)| word);
            // A generator seeded by the word and the version (SplitMix64).
            let mut seed = hash(&self.version) ^ hash(word);
            for component in &mut sum {
                seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                *component += (mixed >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
            }
        }
        let length = sum.iter().map(|component| component * component).sum::<f32>().sqrt();
        if length > 0.0 {
            sum.iter_mut().for_each(|component| *component /= length);
        } else if words(text).next().is_none() {
            sum[0] = 1.0;
        }
        sum
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Returns the 64-bit FNV-1a hash.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[async_trait]
impl Embedder for TestEmbedder {
    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.calls.send_modify(|calls| *calls += 1);
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        let mut state = self.state();
        if state.is_down {
            return Err(ModelError::Unreachable("the model is away".into()));
        }
        let is_rejected = |text: &String| state.rejected.iter().any(|word| text.to_lowercase().contains(word));
        if texts.iter().any(is_rejected) {
            return Err(ModelError::Status(400));
        }
        state.embedded.extend(texts.iter().map(|text| (kind, text.clone())));
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    fn dimensions(&self) -> Option<usize> {
        Some(DIMENSIONS)
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn is_healthy(&self) -> bool {
        !self.state().is_down
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(left: &[f32], right: &[f32]) -> f32 {
        left.iter().zip(right).map(|(left, right)| left * right).sum()
    }

    #[test]
    fn texts_with_equal_words_are_near() {
        let model = TestEmbedder::default().with_synonyms("holiday", "vacation").without("xyzzy");
        let vector = |text| model.vector(text);
        assert!(cosine(&vector("Holiday, allowance"), &vector("vacation allowance")) > 0.99);
        assert!(cosine(&vector("holiday allowance"), &vector("holiday pay")) > 0.2);
        assert!(cosine(&vector("holiday"), &vector("walrus")).abs() < 0.5);
        assert!(cosine(&vector("walrus"), &TestEmbedder::new("other").vector("walrus")).abs() < 0.5);
        assert_eq!(vector("holiday xyzzy"), vector("holiday"));
        assert!(crate::embedding::is_unknown(&vector("xyzzy")));
        assert!((cosine(&vector(""), &vector("")) - 1.0).abs() < 1e-6);
    }
}
