//! Tokens of several texts.

use candle_core::{Device, Tensor};

use crate::tokens::index;

/// Tokens of several texts, filled up to the same length.
pub struct Batch {
    /// Text by text.
    pub ids: Vec<u32>,
    /// Number of tokens of each text.
    pub lengths: Vec<usize>,
    pub longest: usize,
}

impl Batch {
    /// Fills texts up to the length of the longest. A text without tokens gets the first one of the table.
    ///
    /// # Errors
    /// A token is outside of the table, or a text is longer than there are positions.
    pub fn new(mut texts: Vec<Vec<u32>>, rows: usize, positions: usize) -> Result<Self, String> {
        for ids in &mut texts {
            if ids.is_empty() {
                ids.push(0);
            }
            if let Some(id) = ids.iter().find(|id| index(**id) >= rows) {
                return Err(format!("token {id} has no vector"));
            }
        }
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        let longest = lengths.iter().copied().max().unwrap_or_default();
        if longest > positions {
            return Err(format!("{longest} tokens, and the model has {positions} positions"));
        }
        for ids in &mut texts {
            ids.resize(longest, 0);
        }
        Ok(Self { ids: texts.concat(), lengths, longest })
    }

    /// Returns numbers that, added to the scores of tokens, remove padding; `None` if there is none.
    pub fn padding_mask(&self) -> candle_core::Result<Option<Tensor>> {
        if self.lengths.iter().all(|length| *length == self.longest) {
            return Ok(None);
        }
        let mut mask = Vec::with_capacity(self.ids.len());
        for length in &self.lengths {
            mask.extend((0..self.longest).map(|place| if place < *length { 0.0 } else { f32::MIN }));
        }
        Tensor::from_vec(mask, (self.lengths.len(), 1, 1, self.longest), &Device::Cpu).map(Some)
    }
}
