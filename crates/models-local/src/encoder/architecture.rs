//! Differences between the architectures: names of tensors, and sizes.

use serde::Deserialize;

use crate::weights::Weights;

/// Maximum number of heads, layers and components; hostile files declare more.
const MAX_SIZE: usize = 1 << 16;

/// Part of `config.json`. DistilBERT has its own names.
#[derive(Deserialize)]
pub struct Config {
    #[serde(default)]
    model_type: String,
    #[serde(alias = "dim")]
    hidden_size: Option<usize>,
    #[serde(alias = "n_layers")]
    num_hidden_layers: Option<usize>,
    #[serde(alias = "n_heads")]
    num_attention_heads: Option<usize>,
    #[serde(alias = "hidden_dim")]
    intermediate_size: Option<usize>,
    #[serde(alias = "activation")]
    hidden_act: Option<String>,
    layer_norm_eps: Option<f64>,
    pad_token_id: Option<usize>,
    position_embedding_type: Option<String>,
}

/// Sizes of an encoder.
pub struct Sizes {
    pub hidden: usize,
    pub layers: usize,
    pub heads: usize,
    pub intermediate: usize,
}

impl Config {
    pub fn sizes(&self) -> Result<Sizes, String> {
        let size = |name: &str, value: Option<usize>| match value {
            Some(value) if (1..=MAX_SIZE).contains(&value) => Ok(value),
            Some(value) => Err(format!("`{name}` = {value}: must be between 1 and {MAX_SIZE}")),
            None => Err(format!("has no `{name}`")),
        };
        let sizes = Sizes {
            hidden: size("hidden_size", self.hidden_size)?,
            layers: size("num_hidden_layers", self.num_hidden_layers)?,
            heads: size("num_attention_heads", self.num_attention_heads)?,
            intermediate: size("intermediate_size", self.intermediate_size)?,
        };
        if !sizes.hidden.is_multiple_of(sizes.heads) {
            let Sizes { hidden, heads, .. } = sizes;
            return Err(format!("`hidden_size` = {hidden}: must be a multiple of `num_attention_heads` = {heads}"));
        }
        Ok(sizes)
    }

    pub fn activation(&self) -> &str {
        self.hidden_act.as_deref().unwrap_or("gelu")
    }

    /// Returns the number that is added to variances, which must not be zero.
    pub fn epsilon(&self) -> f32 {
        self.layer_norm_eps.unwrap_or(1e-12).clamp(1e-12, 1.0) as f32
    }
}

/// Names of an encoder's tensors.
pub struct Architecture {
    /// Before all names: empty, or the model's type.
    prefix: String,
    names: &'static Names,
    /// Position of the first token.
    pub first_position: usize,
    pub has_types: bool,
}

/// Names in a layer.
pub struct Names {
    layer: &'static str,
    pub query: &'static str,
    pub key: &'static str,
    pub value: &'static str,
    pub attention_output: &'static str,
    pub attention_norm: &'static str,
    pub intermediate: &'static str,
    pub output: &'static str,
    pub output_norm: &'static str,
}

const BERT: Names = Names {
    layer: "encoder.layer",
    query: "attention.self.query",
    key: "attention.self.key",
    value: "attention.self.value",
    attention_output: "attention.output.dense",
    attention_norm: "attention.output.LayerNorm",
    intermediate: "intermediate.dense",
    output: "output.dense",
    output_norm: "output.LayerNorm",
};

const DISTILBERT: Names = Names {
    layer: "transformer.layer",
    query: "attention.q_lin",
    key: "attention.k_lin",
    value: "attention.v_lin",
    attention_output: "attention.out_lin",
    attention_norm: "sa_layer_norm",
    intermediate: "ffn.lin1",
    output: "ffn.lin2",
    output_norm: "output_layer_norm",
};

impl Architecture {
    /// # Errors
    /// The model is of another family.
    pub fn of(config: &Config, weights: &Weights<'_>) -> Result<Self, String> {
        if !matches!(config.position_embedding_type.as_deref(), None | Some("absolute")) {
            return Err("`position_embedding_type` must be `absolute`".to_owned());
        }
        let (names, is_roberta) = match config.model_type.as_str() {
            // Old files do not name their type.
            "" | "bert" => (&BERT, false),
            "roberta" | "xlm-roberta" | "camembert" => (&BERT, true),
            "distilbert" => (&DISTILBERT, false),
            other => {
                let supported = "`bert`, `roberta`, `xlm-roberta`, `camembert` and `distilbert` are supported";
                return Err(format!("`model_type` = `{other}`: {supported}"));
            }
        };
        let prefixes = ["", "bert.", "roberta.", "distilbert."];
        let is_prefix = |prefix: &&&str| weights.has(&format!("{prefix}{WORDS}.weight"));
        let prefix = prefixes.iter().find(is_prefix).copied().unwrap_or_default().to_owned();
        // RoBERTa counts positions from behind that of padding.
        let first_position = if is_roberta { config.pad_token_id.unwrap_or(1).saturating_add(1) } else { 0 };
        let has_types = weights.has(&format!("{prefix}{TYPES}.weight"));
        Ok(Self { prefix, names, first_position, has_types })
    }

    pub fn names(&self) -> &'static Names {
        self.names
    }

    /// Returns the full name of a tensor outside of the layers.
    pub fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns the full name of a tensor of a layer.
    pub fn in_layer(&self, number: usize, name: &str) -> String {
        format!("{}{}.{number}.{name}", self.prefix, self.names.layer)
    }
}

/// Names that all architectures have in common.
pub const WORDS: &str = "embeddings.word_embeddings";
pub const POSITIONS: &str = "embeddings.position_embeddings";
pub const TYPES: &str = "embeddings.token_type_embeddings";
pub const NORM: &str = "embeddings.LayerNorm";
