//! A vector of a text from those of its tokens.

use serde::Deserialize;

use crate::folder::{Folder, LoadError};

/// Way of pooling. The length of the result does not matter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pooling {
    /// Vector of the first token.
    First,
    Mean,
    /// Largest value of each component.
    Max,
}

/// Configuration of sentence-transformers, in its old form with a flag per mode and its new form with a name.
#[derive(Deserialize)]
struct Config {
    pooling_mode: Option<Mode>,
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_max_tokens: bool,
    #[serde(default)]
    pooling_mode_mean_sqrt_len_tokens: bool,
    #[serde(default)]
    pooling_mode_weightedmean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Mode {
    One(String),
    Several(Vec<String>),
}

impl Config {
    fn modes(&self) -> Vec<String> {
        let flags = [
            ("cls", self.pooling_mode_cls_token),
            ("mean", self.pooling_mode_mean_tokens),
            ("max", self.pooling_mode_max_tokens),
            ("mean_sqrt_len_tokens", self.pooling_mode_mean_sqrt_len_tokens),
            ("weightedmean", self.pooling_mode_weightedmean_tokens),
            ("lasttoken", self.pooling_mode_lasttoken),
        ];
        match &self.pooling_mode {
            Some(Mode::One(name)) => vec![name.clone()],
            Some(Mode::Several(names)) => names.clone(),
            None => flags.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (*name).to_owned()).collect(),
        }
    }
}

impl Pooling {
    /// Reads the mode. Without a pooling module it is the mean, as in sentence-transformers.
    pub fn load(folder: &mut Folder) -> Result<Self, LoadError> {
        let Some((path, config)) = folder.pooling::<Config>()? else { return Ok(Pooling::Mean) };
        match config.modes().iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cls"] => Ok(Pooling::First),
            // They differ in the length only.
            [] | ["mean" | "mean_sqrt_len_tokens"] => Ok(Pooling::Mean),
            ["max"] => Ok(Pooling::Max),
            ref other => {
                let reason = format!("pooling `{}`: one of `cls`, `mean` and `max` is supported", other.join(" + "));
                Err(LoadError::new(&path, reason))
            }
        }
    }

    /// Returns the vector of a text from the rows of its first `length` tokens.
    pub fn pool(self, tokens: &[f32], length: usize, dimensions: usize) -> Vec<f32> {
        let mut rows = tokens.chunks(dimensions).take(length);
        let mut pooled = rows.next().unwrap_or_default().to_vec();
        let combine: fn(f32, f32) -> f32 = match self {
            Pooling::First => return pooled,
            Pooling::Mean => |sum, component| sum + component,
            Pooling::Max => f32::max,
        };
        for row in rows {
            pooled.iter_mut().zip(row).for_each(|(pooled, component)| *pooled = combine(*pooled, *component));
        }
        pooled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_not_pooled() {
        let tokens = [1.0, 5.0, 3.0, -2.0, 100.0, 100.0];
        for (pooling, expected) in
            [(Pooling::First, [1.0, 5.0]), (Pooling::Mean, [4.0, 3.0]), (Pooling::Max, [3.0, 5.0])]
        {
            assert_eq!(pooling.pool(&tokens, 2, 2), expected, "{pooling:?}");
        }
    }
}
