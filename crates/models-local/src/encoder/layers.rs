//! Computation of an encoder. Hidden states are tables with a row per token, text by text.

use candle_core::{Device, Tensor};
use candle_nn::ops::{layer_norm, softmax_last_dim};

use super::architecture::{Architecture, Config, NORM, POSITIONS, Sizes, TYPES, WORDS};
use super::batch::Batch;
use super::gelu;
use crate::folder::LoadError;
use crate::weights::Weights;

/// Function between the two halves of a layer's last step.
#[derive(Clone, Copy)]
pub enum Activation {
    Gelu,
    /// GELU by its approximation with tanh.
    GeluTanh,
    Relu,
}

impl Activation {
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            "gelu" => Ok(Activation::Gelu),
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
            "relu" => Ok(Activation::Relu),
            other => Err(format!("`hidden_act` = `{other}`: `gelu`, `gelu_new` and `relu` are supported")),
        }
    }

    /// Returns the values, for which `input` may be reused.
    fn apply(self, input: Tensor) -> candle_core::Result<Tensor> {
        match self {
            Activation::Gelu => gelu::apply(&input).map(|()| input),
            Activation::GeluTanh => input.gelu(),
            Activation::Relu => input.relu(),
        }
    }
}

struct Linear {
    /// A column per output.
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn load(weights: &Weights<'_>, name: &str, inputs: usize, outputs: usize) -> Result<Self, LoadError> {
        let weight = tensor(weights, &format!("{name}.weight"), &[outputs, inputs])?;
        let weight = weight.t().map_err(|error| weights.fault(error.to_string()))?;
        Ok(Self { weight, bias: tensor(weights, &format!("{name}.bias"), &[outputs])? })
    }

    fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        input.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl Norm {
    fn load(weights: &Weights<'_>, name: &str, size: usize, epsilon: f32) -> Result<Self, LoadError> {
        // Files converted from TensorFlow have the names of their formula.
        let is_old = weights.has(&format!("{name}.gamma"));
        let (weight, bias) = if is_old { ("gamma", "beta") } else { ("weight", "bias") };
        Ok(Self {
            weight: tensor(weights, &format!("{name}.{weight}"), &[size])?,
            bias: tensor(weights, &format!("{name}.{bias}"), &[size])?,
            epsilon,
        })
    }

    fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        layer_norm(input, &self.weight, &self.bias, self.epsilon)
    }
}

/// First step: the sum of a token's vector and that of its position.
pub struct Embeddings {
    words: Tensor,
    rows: usize,
    /// From the position of the first token on, with the vector of the first type of tokens included.
    positions: Tensor,
    position_count: usize,
    norm: Norm,
}

impl Embeddings {
    pub fn load(
        weights: &Weights<'_>,
        architecture: &Architecture,
        config: &Config,
        hidden: usize,
    ) -> Result<Self, LoadError> {
        let name = |name: &str| architecture.name(&format!("{name}.weight"));
        let (rows, _) = weights.table_shape(&name(WORDS))?;
        let words = tensor(weights, &name(WORDS), &[rows, hidden])?;
        let (all, _) = weights.table_shape(&name(POSITIONS))?;
        let mut positions = weights.floats(&name(POSITIONS), &[all, hidden])?;
        let first = architecture.first_position;
        if first >= all {
            return Err(weights.fault(format!("has {all} positions, and the first is {first}")));
        }
        positions.drain(..first * hidden);
        if architecture.has_types {
            let (types, _) = weights.table_shape(&name(TYPES))?;
            let types = weights.floats(&name(TYPES), &[types, hidden])?;
            for position in positions.chunks_mut(hidden) {
                position.iter_mut().zip(&types).for_each(|(sum, component)| *sum += component);
            }
        }
        let position_count = all - first;
        let positions = Tensor::from_vec(positions, (position_count, hidden), &Device::Cpu)
            .map_err(|error| weights.fault(error.to_string()))?;
        let norm = Norm::load(weights, &architecture.name(NORM), hidden, config.epsilon())?;
        Ok(Self { words, rows, positions, position_count, norm })
    }

    /// Returns the number of tokens.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the maximum number of tokens of a text.
    pub fn positions(&self) -> usize {
        self.position_count
    }

    pub fn forward(&self, batch: &Batch) -> candle_core::Result<Tensor> {
        let (texts, length) = (batch.lengths.len(), batch.longest);
        let ids = Tensor::from_slice(&batch.ids, batch.ids.len(), &Device::Cpu)?;
        let words = self.words.index_select(&ids, 0)?;
        let hidden = words.dim(1)?;
        let positions = self.positions.narrow(0, 0, length)?;
        let sum = words.reshape((texts, length, hidden))?.broadcast_add(&positions)?;
        self.norm.forward(&sum.reshape((texts * length, hidden))?)
    }
}

/// Attention and two linear steps.
pub struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

impl Layer {
    pub fn load(
        weights: &Weights<'_>,
        architecture: &Architecture,
        config: &Config,
        sizes: &Sizes,
        number: usize,
    ) -> Result<Self, LoadError> {
        let (hidden, inner, names) = (sizes.hidden, sizes.intermediate, architecture.names());
        let linear = |name: &str, inputs: usize, outputs: usize| {
            Linear::load(weights, &architecture.in_layer(number, name), inputs, outputs)
        };
        let norm = |name: &str| Norm::load(weights, &architecture.in_layer(number, name), hidden, config.epsilon());
        Ok(Self {
            query: linear(names.query, hidden, hidden)?,
            key: linear(names.key, hidden, hidden)?,
            value: linear(names.value, hidden, hidden)?,
            attention_output: linear(names.attention_output, hidden, hidden)?,
            attention_norm: norm(names.attention_norm)?,
            intermediate: linear(names.intermediate, hidden, inner)?,
            output: linear(names.output, inner, hidden)?,
            output_norm: norm(names.output_norm)?,
        })
    }

    pub fn forward(
        &self,
        hidden: &Tensor,
        batch: &Batch,
        mask: Option<&Tensor>,
        heads: usize,
        activation: Activation,
    ) -> candle_core::Result<Tensor> {
        let attention = self.attention_output.forward(&self.attention(hidden, batch, mask, heads)?)?;
        let hidden = self.attention_norm.forward(&(hidden + attention)?)?;
        let inner = activation.apply(self.intermediate.forward(&hidden)?)?;
        let output = self.output.forward(&inner)?;
        self.output_norm.forward(&(hidden + output)?)
    }

    fn attention(
        &self,
        hidden: &Tensor,
        batch: &Batch,
        mask: Option<&Tensor>,
        heads: usize,
    ) -> candle_core::Result<Tensor> {
        let (texts, length) = (batch.lengths.len(), batch.longest);
        let size = hidden.dim(1)? / heads;
        // A table per text and head.
        let by_head = |linear: &Linear| {
            linear.forward(hidden)?.reshape((texts, length, heads, size))?.transpose(1, 2)?.contiguous()
        };
        let query = (by_head(&self.query)? / (size as f64).sqrt())?;
        let scores = query.matmul(&by_head(&self.key)?.t()?)?;
        let scores = match mask {
            Some(mask) => scores.broadcast_add(mask)?,
            None => scores,
        };
        let context = softmax_last_dim(&scores)?.matmul(&by_head(&self.value)?)?;
        context.transpose(1, 2)?.reshape((texts * length, heads * size))
    }
}

fn tensor(weights: &Weights<'_>, name: &str, shape: &[usize]) -> Result<Tensor, LoadError> {
    let numbers = weights.floats(name, shape)?;
    Tensor::from_vec(numbers, shape, &Device::Cpu).map_err(|error| weights.fault(format!("tensor `{name}`: {error}")))
}
