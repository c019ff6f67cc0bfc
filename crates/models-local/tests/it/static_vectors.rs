use models::embedding::Embedder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::generated::{assert_close, embedded, floats, folder, json_bytes, open, safetensors, tokenizer};

const WORDS: [&str; 5] = ["[PAD]", "[UNK]", "holiday", "vacation", "tax"];
const TABLE: [f32; 15] = [9.0, 9.0, 9.0, 7.0, 7.0, 0.0, 1.0, 0.0, 2.0, 0.0, 4.0, 2.0, -1.0, 0.5, 0.0];

fn model(weights: Vec<u8>, config: &Value) -> TempDir {
    let tokenizer = json_bytes(&tokenizer(&WORDS, Value::Null));
    folder(&[("model.safetensors", weights), ("tokenizer.json", tokenizer), ("config.json", json_bytes(config))])
}

fn config() -> Value {
    json!({"model_type": "model2vec", "normalize": true, "hidden_dim": 3})
}

#[tokio::test]
async fn text_is_the_mean_of_its_known_tokens() {
    let model = model(safetensors(&[("embeddings", "F32", &[5, 3], floats(&TABLE))]), &config());
    let embedder = open(&model).unwrap();
    assert_eq!(embedder.dimensions(), Some(3));
    let found =
        embedded(&embedder, &["holiday vacation", "tax", "holiday strange", "strange", "", "holiday tax tax"]).await;
    assert_close(&found[0], &[1.0, 4.0, 4.0]);
    assert_close(&found[1], &[-1.0, 0.5, 0.0]);
    assert_close(&found[2], &[1.0, 0.0, 2.0]);
    // Texts without a known token have nothing in common.
    assert_eq!(found[3], [0.0; 3]);
    assert_eq!(found[4], [0.0; 3]);
    assert_close(&found[5], &[-1.0, 1.0, 2.0]);
}

#[tokio::test]
async fn tables_of_all_precisions_are_read() {
    let (halves, brains): (Vec<u8>, Vec<u8>) = (
        TABLE.iter().flat_map(|number| half::f16::from_f32(*number).to_le_bytes()).collect(),
        TABLE.iter().flat_map(|number| half::bf16::from_f32(*number).to_le_bytes()).collect(),
    );
    let doubles = TABLE.iter().flat_map(|number| f64::from(*number).to_le_bytes()).collect();
    for (kind, bytes) in [("F16", halves), ("BF16", brains), ("F64", doubles)] {
        let embedder = open(&model(safetensors(&[("embeddings", kind, &[5, 3], bytes)]), &config())).unwrap();
        assert_close(&embedded(&embedder, &["holiday tax"]).await[0], &[0.0, 0.5, 2.0]);
    }
    let bytes = TABLE.iter().map(|number| (*number * 2.0) as i8 as u8).collect();
    let embedder = open(&model(safetensors(&[("embeddings", "I8", &[5, 3], bytes)]), &config())).unwrap();
    assert_close(&embedded(&embedder, &["holiday tax"]).await[0], &[0.0, 1.0, 4.0]);
}

#[tokio::test]
async fn tokens_share_rows_and_have_weights() {
    let rows: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
    let mapping = [0_i64, 0, 1, 1, 0].iter().flat_map(|row| row.to_le_bytes()).collect();
    let weights = [1.0_f64, 1.0, 3.0, 0.5, -2.0].iter().flat_map(|weight| weight.to_le_bytes()).collect();
    let tensors = safetensors(&[
        ("embeddings", "F32", &[2, 2], floats(&rows)),
        ("mapping", "I64", &[5], mapping),
        ("weights", "F64", &[5], weights),
    ]);
    let embedder = open(&model(tensors, &config())).unwrap();
    let found = embedded(&embedder, &["holiday tax", "vacation", "tax"]).await;
    assert_close(&found[0], &[-2.0, 3.0]);
    assert_close(&found[1], &[0.0, 1.0]);
    assert_close(&found[2], &[-1.0, 0.0]);
}

#[tokio::test]
async fn texts_are_cut_to_the_configured_number_of_tokens() {
    let weights = safetensors(&[("embeddings", "F32", &[5, 3], floats(&TABLE))]);
    let config = json!({"normalize": false, "max_length": 2});
    let embedder = open(&model(weights, &config)).unwrap();
    assert_close(&embedded(&embedder, &["tax tax holiday"]).await[0], &[-1.0, 0.5, 0.0]);
}

#[tokio::test]
async fn folder_of_sentence_transformers_is_read() {
    let modules = json!([
        {"idx": 0, "name": "0", "path": "0_StaticEmbedding", "type": "sentence_transformers.models.StaticEmbedding"},
        {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]);
    let model = folder(&[
        ("modules.json", json_bytes(&modules)),
        ("0_StaticEmbedding/model.safetensors", safetensors(&[("embedding.weight", "F32", &[5, 3], floats(&TABLE))])),
        ("0_StaticEmbedding/tokenizer.json", json_bytes(&tokenizer(&WORDS, Value::Null))),
    ]);
    let found = embedded(&open(&model).unwrap(), &["holiday strange", "strange words"]).await;
    assert_close(&found[0], &[8.0, 7.0, 2.0]);
    assert_eq!(found[1], [0.0; 3]);
}
