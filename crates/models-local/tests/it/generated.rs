//! Folders with small models.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use models::embedding::{Embedder, TextKind};
use models_local::{LoadError, LocalEmbedder, LocalEmbedderOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Tensor of 32-bit numbers.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub numbers: Vec<f32>,
}

pub type Tensors = BTreeMap<String, Tensor>;

/// Reproducible numbers between -0.5 and 0.5.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn tensor(&mut self, shape: &[usize]) -> Tensor {
        let count = shape.iter().product();
        let numbers = (0..count).map(|_| self.next()).collect();
        Tensor { shape: shape.to_vec(), numbers }
    }

    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u32 << 24) as f32 - 0.5
    }
}

/// Returns a safetensors file of tensors with their types and bytes.
pub fn safetensors(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, kind, shape, bytes) in tensors {
        let offsets = [data.len(), data.len() + bytes.len()];
        header.insert((*name).to_owned(), json!({"dtype": kind, "shape": shape, "data_offsets": offsets}));
        data.extend_from_slice(bytes);
    }
    with_header(&Value::Object(header).to_string(), &data)
}

pub fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

pub fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

pub fn file_of(tensors: &Tensors) -> Vec<u8> {
    let list = tensors
        .iter()
        .map(|(name, Tensor { shape, numbers })| (name.as_str(), "F32", shape.as_slice(), floats(numbers)));
    safetensors(&list.collect::<Vec<_>>())
}

/// Returns a tokenizer with a token per word. The first words of the vocabulary are special.
pub fn tokenizer(words: &[&str], post_processor: Value) -> Value {
    let vocabulary: BTreeMap<&str, usize> = words.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    json!({
        "version": "1.0",
        // Settings of training, which do not apply.
        "truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 4}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": post_processor,
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"},
    })
}

/// Puts the tokens 2 and 3 around a text.
pub fn template() -> Value {
    let token = |name: &str| json!({"SpecialToken": {"id": name, "type_id": 0}});
    let text = json!({"Sequence": {"id": "A", "type_id": 0}});
    json!({
        "type": "TemplateProcessing",
        "single": [token("[CLS]"), text, token("[SEP]")],
        "pair": [token("[CLS]"), text, token("[SEP]"), {"Sequence": {"id": "B", "type_id": 0}}, token("[SEP]")],
        "special_tokens": {
            "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
            "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
        },
    })
}

/// Creates a folder with these files.
pub fn folder(files: &[(&str, Vec<u8>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        write(folder.path(), name, bytes);
    }
    folder
}

pub fn write(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

pub fn json_bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

pub fn options() -> LocalEmbedderOptions {
    LocalEmbedderOptions {
        dimensions: 0,
        query_prefix: String::new(),
        document_prefix: String::new(),
        batch: 32,
        timeout: Duration::from_secs(60),
        threads: 2,
    }
}

pub fn open(folder: &TempDir) -> Result<LocalEmbedder, LoadError> {
    LocalEmbedder::open(folder.path(), options())
}

pub fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Embeds documents.
pub async fn embedded(embedder: &LocalEmbedder, documents: &[&str]) -> Vec<Vec<f32>> {
    embedder.embed(TextKind::Document, &texts(documents)).await.unwrap()
}

pub fn assert_close(found: &[f32], expected: &[f32]) {
    let length = expected.iter().map(|component| component * component).sum::<f32>().sqrt();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected / length).abs() < 1e-4, "{found} {}", expected / length);
    }
}
