//! Plain computation of an encoder, text by text, without any library.

use crate::generated::{Numbers, Tensor, Tensors};

/// Sizes of the generated encoders.
pub const VOCABULARY: usize = 9;
pub const HIDDEN: usize = 8;
pub const HEADS: usize = 2;
pub const INNER: usize = 12;
pub const LAYERS: usize = 2;
pub const POSITIONS: usize = 12;
pub const EPSILON: f64 = 1e-5;

/// Returns the tensors of an encoder with the names of BERT.
pub fn tensors(seed: u64) -> Tensors {
    let mut numbers = Numbers(seed);
    let mut tensors = Tensors::new();
    let mut add = |name: String, shape: &[usize]| drop(tensors.insert(name, numbers.tensor(shape)));
    add("embeddings.word_embeddings.weight".into(), &[VOCABULARY, HIDDEN]);
    add("embeddings.position_embeddings.weight".into(), &[POSITIONS, HIDDEN]);
    add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN]);
    add("embeddings.LayerNorm.weight".into(), &[HIDDEN]);
    add("embeddings.LayerNorm.bias".into(), &[HIDDEN]);
    for layer in 0..LAYERS {
        let mut add = |name: &str, shape: &[usize]| {
            add(format!("encoder.layer.{layer}.{name}.weight"), shape);
            add(format!("encoder.layer.{layer}.{name}.bias"), &shape[..1]);
        };
        for name in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
            add(name, &[HIDDEN, HIDDEN]);
        }
        add("attention.output.LayerNorm", &[HIDDEN]);
        add("intermediate.dense", &[INNER, HIDDEN]);
        add("output.dense", &[HIDDEN, INNER]);
        add("output.LayerNorm", &[HIDDEN]);
    }
    tensors
}

/// Returns the last layer's vector of each token.
pub fn encode(
    tensors: &Tensors,
    ids: &[usize],
    first_position: usize,
    has_types: bool,
    activation: fn(f64) -> f64,
) -> Vec<Vec<f64>> {
    let row = |name: &str, row: usize| {
        let Tensor { shape, numbers } = &tensors[name];
        numbers[row * shape[1]..][..shape[1]].iter().map(|number| f64::from(*number)).collect::<Vec<f64>>()
    };
    let vector = |name: &str| tensors[name].numbers.iter().map(|number| f64::from(*number)).collect::<Vec<f64>>();
    let linear = |name: &str, input: &[f64]| {
        let bias = vector(&format!("{name}.bias"));
        let output = |number: usize| bias[number] + dot(&row(&format!("{name}.weight"), number), input);
        (0..bias.len()).map(output).collect::<Vec<f64>>()
    };
    let norm = |name: &str, input: &[f64]| {
        let count = input.len() as f64;
        let mean = input.iter().sum::<f64>() / count;
        let variance = input.iter().map(|component| (component - mean).powi(2)).sum::<f64>() / count;
        let (weight, bias) = (vector(&format!("{name}.weight")), vector(&format!("{name}.bias")));
        let scaled = |place: usize| (input[place] - mean) / (variance + EPSILON).sqrt() * weight[place] + bias[place];
        (0..input.len()).map(scaled).collect::<Vec<f64>>()
    };
    let mut hidden: Vec<Vec<f64>> = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let mut sum = row("embeddings.word_embeddings.weight", *id);
        sum = added(&sum, &row("embeddings.position_embeddings.weight", first_position + place));
        if has_types {
            sum = added(&sum, &row("embeddings.token_type_embeddings.weight", 0));
        }
        hidden.push(norm("embeddings.LayerNorm", &sum));
    }
    for layer in 0..LAYERS {
        let name = |name: &str| format!("encoder.layer.{layer}.{name}");
        let projected = |part: &str| {
            hidden.iter().map(|token| linear(&name(&format!("attention.self.{part}")), token)).collect::<Vec<_>>()
        };
        let (queries, keys, values) = (projected("query"), projected("key"), projected("value"));
        let mut next = Vec::new();
        for (place, token) in hidden.iter().enumerate() {
            let mut context = Vec::new();
            for head in 0..HEADS {
                let size = HIDDEN / HEADS;
                let part = |vector: &[f64]| vector[head * size..][..size].to_vec();
                let score = |key: &Vec<f64>| dot(&part(&queries[place]), &part(key)) / (size as f64).sqrt();
                let shares: Vec<f64> = keys.iter().map(|key| score(key).exp()).collect();
                let whole: f64 = shares.iter().sum();
                let mut sum = vec![0.0; size];
                for (share, value) in shares.iter().zip(&values) {
                    let value: Vec<f64> = part(value).iter().map(|component| component * share / whole).collect();
                    sum = added(&sum, &value);
                }
                context.extend(sum);
            }
            let attention = linear(&name("attention.output.dense"), &context);
            let token = norm(&name("attention.output.LayerNorm"), &added(token, &attention));
            let inner: Vec<f64> = linear(&name("intermediate.dense"), &token).into_iter().map(activation).collect();
            let output = linear(&name("output.dense"), &inner);
            next.push(norm(&name("output.LayerNorm"), &added(&token, &output)));
        }
        hidden = next;
    }
    hidden
}

/// GELU, with the error function by numerical integration.
pub fn gelu(x: f64) -> f64 {
    let steps = 2_000;
    let width = x / std::f64::consts::SQRT_2 / f64::from(steps);
    let area: f64 = (0..steps).map(|step| (-((f64::from(step) + 0.5) * width).powi(2)).exp() * width).sum();
    0.5 * x * (1.0 + 2.0 / std::f64::consts::PI.sqrt() * area)
}

pub fn gelu_tanh(x: f64) -> f64 {
    0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh())
}

pub fn relu(x: f64) -> f64 {
    x.max(0.0)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn added(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}
