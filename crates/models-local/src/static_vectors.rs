//! Static embeddings: a vector per token, and the mean of its tokens' vectors for a text.

use serde::Deserialize;

use crate::folder::{Folder, LoadError};
use crate::tokens::{Tokens, index};
use crate::weights::Weights;

/// Tokens that are read of a text unless `config.json` says otherwise.
const MAX_TOKENS: usize = 512;
/// Table of model2vec.
const TABLE: &str = "embeddings";
/// Table of sentence-transformers.
const OTHER_TABLE: &str = "embedding.weight";

/// Model with a vector per token.
pub struct StaticVectors {
    tokens: Tokens,
    table: Vec<f32>,
    dimensions: usize,
    /// Row of each token; `None` if they are the same.
    rows: Option<Vec<usize>>,
    /// Weight of each token.
    weights: Option<Vec<f32>>,
    /// Token that does not count.
    unknown: Option<u32>,
}

/// Part of `config.json`.
#[derive(Deserialize)]
struct Config {
    /// An explicit null removes the limit.
    #[serde(default = "max_tokens")]
    max_length: Option<usize>,
}

fn max_tokens() -> Option<usize> {
    Some(MAX_TOKENS)
}

impl StaticVectors {
    /// Returns true if the file contains a table of static vectors.
    pub fn are_in(weights: &Weights<'_>) -> bool {
        weights.has(TABLE) || weights.has(OTHER_TABLE)
    }

    pub fn load(folder: &mut Folder, weights: &Weights<'_>) -> Result<Self, LoadError> {
        let is_model2vec = weights.has(TABLE);
        let table = if is_model2vec { TABLE } else { OTHER_TABLE };
        let (rows, dimensions) = weights.table_shape(table)?;
        let mapped = weights.has("mapping").then(|| weights.list_length("mapping")).transpose()?;
        let vocabulary = mapped.unwrap_or(rows);
        let mut tokens = Tokens::load(folder, vocabulary, false)?;
        // sentence-transformers has no limit and counts unknown words.
        if is_model2vec {
            let config = folder.config("config.json")?.unwrap_or(Config { max_length: max_tokens() });
            tokens.limit(config.max_length.unwrap_or(usize::MAX))?;
        }
        let unknown = tokens.unknown().filter(|_| is_model2vec);
        Ok(Self {
            tokens,
            table: weights.floats(table, &[rows, dimensions])?,
            dimensions,
            rows: mapped.map(|length| weights.indexes("mapping", length, rows)).transpose()?,
            weights: weights.has("weights").then(|| weights.floats("weights", &[vocabulary])).transpose()?,
            unknown,
        })
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        texts.iter().map(|text| self.vector(text)).collect()
    }

    /// Returns true for a text whose words are all outside of the vocabulary. A text without words is not.
    pub fn is_unknown(&self, text: &str) -> Result<bool, String> {
        self.tokens.is_unknown(text)
    }

    /// Returns the mean up to its length, which does not matter; zeros for a text without known tokens.
    fn vector(&self, text: &str) -> Result<Vec<f32>, String> {
        let ids = self.tokens.ids(text)?;
        let mut sum = vec![0.0; self.dimensions];
        if self.tokens.are_unknown(&ids) {
            return Ok(sum);
        }
        for id in ids.into_iter().filter(|id| Some(*id) != self.unknown).map(index) {
            let row = self.rows.as_ref().map_or(Some(id), |rows| rows.get(id).copied());
            let start = row.and_then(|row| row.checked_mul(self.dimensions));
            let vector = start.and_then(|start| self.table.get(start..)?.get(..self.dimensions));
            let vector = vector.ok_or_else(|| format!("token {id} has no vector"))?;
            let weight = self.weights.as_ref().and_then(|weights| weights.get(id)).copied().unwrap_or(1.0);
            for (sum, component) in sum.iter_mut().zip(vector) {
                *sum += weight * component;
            }
        }
        Ok(sum)
    }
}
