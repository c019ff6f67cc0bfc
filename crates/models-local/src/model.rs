//! Models of a folder.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::encoder::Encoder;
use crate::folder::{Folder, LoadError};
use crate::static_vectors::StaticVectors;
use crate::weights::Weights;

/// Model in memory.
pub enum Model {
    Static(Box<StaticVectors>),
    Encoder(Box<Encoder>),
}

impl Model {
    /// Loads the model of a folder, and returns it with the digest of its files.
    ///
    /// # Errors
    /// A file is missing, or is not as the model needs it.
    pub fn load(path: &Path) -> Result<(Self, Sha256), LoadError> {
        let mut folder = Folder::open(path)?;
        let content = folder.weights()?;
        let weights = Weights::parse(&content)?;
        let model = if StaticVectors::are_in(&weights) {
            Model::Static(Box::new(StaticVectors::load(&mut folder, &weights)?))
        } else {
            Model::Encoder(Box::new(Encoder::load(&mut folder, &weights)?))
        };
        Ok((model, folder.digest()))
    }

    pub fn dimensions(&self) -> usize {
        match self {
            Model::Static(model) => model.dimensions(),
            Model::Encoder(model) => model.dimensions(),
        }
    }

    /// Returns true for a text whose words are all outside of the vocabulary. A text without words is not.
    pub fn is_unknown(&self, text: &str) -> Result<bool, String> {
        match self {
            Model::Static(model) => model.is_unknown(text),
            Model::Encoder(model) => model.is_unknown(text),
        }
    }

    /// Returns the vector of each text, of any length. Texts of similar length are faster.
    pub fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        match self {
            Model::Static(model) => model.embed(texts),
            Model::Encoder(model) => model.embed(texts),
        }
    }
}

/// Returns the first characters of a digest, with further texts included.
pub fn short_digest(mut digest: Sha256, texts: &[&str]) -> String {
    for text in texts {
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    hex::encode(&digest.finalize()[..6])
}
