//! Tokens of texts.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use tokenizers::{PostProcessor, Tokenizer, TruncationParams};

use crate::folder::{Folder, LoadError};

const FILE: &str = "tokenizer.json";

/// Tokenizer that cuts texts to a maximum number of tokens.
pub struct Tokens {
    path: PathBuf,
    tokenizer: Tokenizer,
    /// Token for words outside of the vocabulary.
    unknown: Option<u32>,
    /// Known tokens that carry no word, such as punctuation marks and the mark of a word's beginning.
    wordless: HashSet<u32>,
    lowercase: bool,
    with_special: bool,
}

/// Part of `tokenizer.json`.
#[derive(Deserialize)]
struct Description {
    model: ModelDescription,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
}

#[derive(Deserialize)]
struct ModelDescription {
    unk_token: Option<String>,
    unk_id: Option<u32>,
}

impl Description {
    /// Returns true if tokens stand for bytes, whose characters say nothing about those of the text.
    fn has_tokens_of_bytes(&self) -> bool {
        [&self.normalizer, &self.pre_tokenizer].iter().any(|step| step.to_string().contains(r#""ByteLevel""#))
    }
}

impl Tokens {
    /// Loads the tokenizer of a table with `rows` tokens. `with_special` adds the tokens that mark the ends of a text.
    ///
    /// # Errors
    /// The file is missing or invalid, or has tokens outside of the table.
    pub fn load(folder: &mut Folder, rows: usize, with_special: bool) -> Result<Self, LoadError> {
        let content = folder.file(FILE)?;
        let fault = |reason: String| LoadError::new(&content.path, reason);
        let mut tokenizer = Tokenizer::from_bytes(&content.bytes).map_err(|error| fault(error.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| fault(error.to_string()))?;
        let vocabulary = tokenizer.get_vocab(true);
        match vocabulary.values().max().copied().map(index) {
            None => return Err(fault("has no tokens".to_owned())),
            Some(largest) if largest >= rows => {
                return Err(fault(format!("has a token with the id {largest}, and the model has {rows} tokens")));
            }
            Some(_) => {}
        }
        let description: Description =
            serde_json::from_slice(&content.bytes).map_err(|error| fault(error.to_string()))?;
        let wordless = if description.has_tokens_of_bytes() { HashSet::new() } else { wordless(&vocabulary) };
        let Description { model, .. } = description;
        let unknown = model.unk_id.or_else(|| tokenizer.token_to_id(&model.unk_token?));
        Ok(Self { path: content.path.clone(), tokenizer, unknown, wordless, lowercase: false, with_special })
    }

    /// Sets the maximum number of tokens per text.
    ///
    /// # Errors
    /// Little more than the special tokens fits.
    pub fn limit(&mut self, max_tokens: usize) -> Result<(), LoadError> {
        let fault = |reason: String| LoadError::new(&self.path, reason);
        let special = self.tokenizer.get_post_processor().map_or(0, |processor| processor.added_tokens(false));
        if special.saturating_add(2) > max_tokens {
            return Err(fault(format!("adds {special} tokens to a text, and the model reads at most {max_tokens}")));
        }
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        self.tokenizer.with_truncation(Some(truncation)).map_err(|error| fault(error.to_string()))?;
        Ok(())
    }

    /// Makes texts lower case before they are divided.
    pub fn lowercase(&mut self, lowercase: bool) {
        self.lowercase = lowercase;
    }

    pub fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Returns true for tokens, without those that mark the ends of a text, whose words are all outside of the vocabulary. Without
    /// words, as in a text of punctuation marks, none is outside of it.
    pub fn are_unknown(&self, ids: &[u32]) -> bool {
        let is_unknown = |id: &u32| Some(*id) == self.unknown;
        ids.iter().any(is_unknown) && ids.iter().all(|id| is_unknown(id) || self.wordless.contains(id))
    }

    /// Returns true for a text whose words are all outside of the vocabulary.
    pub fn is_unknown(&self, text: &str) -> Result<bool, String> {
        Ok(self.are_unknown(&self.encode(text, false)?))
    }

    /// Returns the ids of a text's tokens.
    pub fn ids(&self, text: &str) -> Result<Vec<u32>, String> {
        self.encode(text, self.with_special)
    }

    fn encode(&self, text: &str, with_special: bool) -> Result<Vec<u32>, String> {
        let encoded = if self.lowercase {
            self.tokenizer.encode_fast(text.to_lowercase(), with_special)
        } else {
            self.tokenizer.encode_fast(text, with_special)
        };
        encoded.map(|encoding| encoding.get_ids().to_vec()).map_err(|error| error.to_string())
    }
}

/// Returns the tokens without a letter or digit. Tokens of single bytes (`<0x0A>`) have some.
fn wordless(vocabulary: &HashMap<String, u32>) -> HashSet<u32> {
    let is_wordless = |token: &str| !token.chars().any(char::is_alphanumeric);
    vocabulary.iter().filter(|(token, _)| is_wordless(token)).map(|(_, id)| *id).collect()
}

/// Returns the row of a token.
pub fn index(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}
