//! Encoders of the BERT family.

mod architecture;
mod batch;
mod gelu;
mod layers;
mod pooling;

use serde::Deserialize;

use self::architecture::{Architecture, Config};
use self::batch::Batch;
use self::layers::{Activation, Embeddings, Layer};
use self::pooling::Pooling;
use crate::folder::{Folder, LoadError};
use crate::tokens::Tokens;
use crate::weights::Weights;

/// Maximum number of tokens per text. Time and memory grow with its square, and passages are shorter.
const MAX_TOKENS: usize = 512;

/// Names of the file with the maximum number of tokens.
const LENGTH_FILES: [&str; 4] = [
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_xlm-roberta_config.json",
];

/// Encoder with its tokenizer.
pub struct Encoder {
    tokens: Tokens,
    embeddings: Embeddings,
    layers: Vec<Layer>,
    activation: Activation,
    heads: usize,
    dimensions: usize,
    pooling: Pooling,
}

/// Settings of sentence-transformers.
#[derive(Default, Deserialize)]
struct LengthConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

/// Part of `tokenizer_config.json`.
#[derive(Default, Deserialize)]
struct TokenizerConfig {
    /// A huge number if there is no limit.
    model_max_length: Option<f64>,
}

impl Encoder {
    pub fn load(folder: &mut Folder, weights: &Weights<'_>) -> Result<Self, LoadError> {
        let path = folder.path_of("config.json");
        let config: Config =
            folder.config("config.json")?.ok_or_else(|| LoadError::new(&path, "is missing or is no file"))?;
        let architecture = Architecture::of(&config, weights).map_err(|reason| LoadError::new(&path, reason))?;
        let sizes = config.sizes().map_err(|reason| LoadError::new(&path, reason))?;
        let activation = Activation::named(config.activation()).map_err(|reason| LoadError::new(&path, reason))?;
        let pooling = Pooling::load(folder)?;

        let embeddings = Embeddings::load(weights, &architecture, &config, sizes.hidden)?;
        let layers = (0..sizes.layers).map(|number| Layer::load(weights, &architecture, &config, &sizes, number));
        let layers = layers.collect::<Result<Vec<Layer>, LoadError>>()?;

        let mut tokens = Tokens::load(folder, embeddings.rows(), true)?;
        let mut length = LengthConfig::default();
        for name in LENGTH_FILES {
            length = folder.config(name)?.unwrap_or(length);
        }
        let tokenizer: TokenizerConfig = folder.config("tokenizer_config.json")?.unwrap_or_default();
        let of_tokenizer = tokenizer.model_max_length.map(|limit| limit.clamp(0.0, MAX_TOKENS as f64) as usize);
        // sentence-transformers gives the tokenizer this length in place of its own.
        let own = length.max_seq_length.or(of_tokenizer).unwrap_or(MAX_TOKENS);
        tokens.limit(own.min(MAX_TOKENS).min(embeddings.positions()))?;
        tokens.lowercase(length.do_lower_case);
        let (heads, dimensions) = (sizes.heads, sizes.hidden);
        Ok(Self { tokens, embeddings, layers, activation, heads, dimensions, pooling })
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns true for a text whose words are all outside of the vocabulary. A text without words is not.
    pub fn is_unknown(&self, text: &str) -> Result<bool, String> {
        self.tokens.is_unknown(text)
    }

    /// Returns the vector of each text; zeros for a text without known tokens.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let ids = texts.iter().map(|text| self.tokens.ids(text)).collect::<Result<Vec<Vec<u32>>, String>>()?;
        let batch = Batch::new(ids, self.embeddings.rows(), self.embeddings.positions())?;
        let hidden = self.forward(&batch).map_err(|error| error.to_string())?;
        let vectors = hidden.chunks(batch.longest * self.dimensions).zip(&batch.lengths).zip(texts);
        let pooled = |((tokens, length), text): ((&[f32], &usize), &String)| -> Result<Vec<f32>, String> {
            let vector = self.pooling.pool(tokens, *length, self.dimensions);
            // Damaged weights show in any text.
            let is_damaged = vector.iter().any(|component| !component.is_finite());
            if is_damaged || !self.is_unknown(text)? { Ok(vector) } else { Ok(vec![0.0; self.dimensions]) }
        };
        vectors.map(pooled).collect()
    }

    /// Returns the last layer's output for each token.
    fn forward(&self, batch: &Batch) -> candle_core::Result<Vec<f32>> {
        let mut hidden = self.embeddings.forward(batch)?;
        let mask = batch.padding_mask()?;
        for layer in &self.layers {
            hidden = layer.forward(&hidden, batch, mask.as_ref(), self.heads, self.activation)?;
        }
        hidden.flatten_all()?.to_vec1()
    }
}
