use models::embedding::{Embedder, TextKind};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::generated::{
    Tensors, assert_close, embedded, file_of, folder, json_bytes, open, template, texts, tokenizer, write,
};
use crate::reference::{self, EPSILON, HEADS, HIDDEN, INNER, LAYERS};

pub const WORDS: [&str; reference::VOCABULARY] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "holiday", "vacation", "tax", "form", "the"];

pub fn config() -> Value {
    json!({
        "model_type": "bert",
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "hidden_act": "gelu",
        "layer_norm_eps": EPSILON,
        "pad_token_id": 0,
        "max_position_embeddings": reference::POSITIONS,
    })
}

pub fn bert(tensors: &Tensors) -> TempDir {
    folder(&[
        ("config.json", json_bytes(&config())),
        ("tokenizer.json", json_bytes(&tokenizer(&WORDS, template()))),
        ("model.safetensors", file_of(tensors)),
    ])
}

fn modules(modules: &[(&str, &str)]) -> Vec<u8> {
    let module =
        |(path, class): &(&str, &str)| json!({"path": path, "type": format!("sentence_transformers.models.{class}")});
    json_bytes(&modules.iter().map(module).collect())
}

/// Returns the ids of a text with the tokens at its ends.
fn ids(words: &str) -> Vec<usize> {
    let id = |word: &str| WORDS.iter().position(|known| *known == word).unwrap_or(1);
    [vec![2], words.split_whitespace().map(id).collect(), vec![3]].concat()
}

fn mean(tokens: &[Vec<f64>]) -> Vec<f32> {
    (0..HIDDEN).map(|place| tokens.iter().map(|token| token[place]).sum::<f64>() as f32).collect()
}

const TEXTS: [&str; 4] = ["holiday", "the tax form the tax form", "vacation unheard-of", ""];

#[tokio::test]
async fn bert_is_computed_as_defined() {
    let tensors = reference::tensors(1);
    let embedder = open(&bert(&tensors)).unwrap();
    assert_eq!(embedder.dimensions(), Some(HIDDEN));
    for (text, found) in TEXTS.iter().zip(embedded(&embedder, &TEXTS).await) {
        // The tokenizer cuts `unheard-of` in three.
        let words = text.replace("unheard-of", "unheard - of");
        assert_close(&found, &mean(&reference::encode(&tensors, &ids(&words), 0, true, reference::gelu)));
    }
}

#[tokio::test]
async fn padding_does_not_matter() {
    let embedder = open(&bert(&reference::tensors(2))).unwrap();
    let together = embedded(&embedder, &TEXTS).await;
    for (text, found) in TEXTS.iter().zip(together) {
        assert_close(&embedded(&embedder, &[*text]).await[0], &found);
    }
}

#[tokio::test]
async fn roberta_counts_positions_from_behind_padding() {
    let mut tensors = reference::tensors(3);
    let expected = reference::encode(&tensors, &ids("holiday form"), 2, true, reference::gelu_tanh);
    tensors = tensors.into_iter().map(|(name, tensor)| (format!("roberta.{name}"), tensor)).collect();
    let model = bert(&tensors);
    let mut config = config();
    config["model_type"] = json!("xlm-roberta");
    config["pad_token_id"] = json!(1);
    config["hidden_act"] = json!("gelu_new");
    write(model.path(), "config.json", &json_bytes(&config));
    assert_close(&embedded(&open(&model).unwrap(), &["holiday form"]).await[0], &mean(&expected));
}

#[tokio::test]
async fn distilbert_has_its_own_names() {
    let tensors = reference::tensors(4);
    let expected = reference::encode(&tensors, &ids("holiday form"), 0, false, reference::relu);
    let rename = |name: &str| {
        let name =
            name.replace("encoder.layer", "transformer.layer").replace("attention.output.LayerNorm", "sa_layer_norm");
        let name =
            name.replace("attention.output.dense", "attention.out_lin").replace("intermediate.dense", "ffn.lin1");
        let name = name.replace("output.dense", "ffn.lin2").replace(".output.LayerNorm", ".output_layer_norm");
        ["query", "key", "value"].iter().fold(name, |name, part| {
            name.replace(&format!("attention.self.{part}"), &format!("attention.{}_lin", &part[..1]))
        })
    };
    let tensors = tensors.into_iter().filter(|(name, _)| !name.contains("token_type"));
    let model = bert(&tensors.map(|(name, tensor)| (rename(&name), tensor)).collect());
    let config = json!({
        "model_type": "distilbert", "dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": INNER,
        "activation": "relu", "layer_norm_eps": EPSILON, "pad_token_id": 0,
    });
    write(model.path(), "config.json", &json_bytes(&config));
    assert_close(&embedded(&open(&model).unwrap(), &["holiday form"]).await[0], &mean(&expected));
}

#[tokio::test]
async fn old_names_of_norms_are_known() {
    let tensors = reference::tensors(5);
    let expected = reference::encode(&tensors, &ids("tax"), 0, true, reference::gelu);
    let rename =
        |name: String| name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
    let model = bert(&tensors.into_iter().map(|(name, tensor)| (format!("bert.{}", rename(name)), tensor)).collect());
    assert_close(&embedded(&open(&model).unwrap(), &["tax"]).await[0], &mean(&expected));
}

#[tokio::test]
async fn pooling_is_as_configured() {
    let tensors = reference::tensors(6);
    let tokens = reference::encode(&tensors, &ids("holiday form"), 0, true, reference::gelu);
    let first: Vec<f32> = tokens[0].iter().map(|component| *component as f32).collect();
    let largest = |place: usize| tokens.iter().map(|token| token[place]).fold(f64::MIN, f64::max) as f32;
    let largest: Vec<f32> = (0..HIDDEN).map(largest).collect();
    for (pooling, expected) in [
        (json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}), &first),
        (json!({"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}), &mean(&tokens)),
        (json!({"pooling_mode_max_tokens": true}), &largest),
        (json!({"pooling_mode": "cls"}), &first),
        (json!({"pooling_mode": ["mean"]}), &mean(&tokens)),
    ] {
        let model = bert(&tensors);
        let list = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")];
        write(model.path(), "modules.json", &modules(&list));
        write(model.path(), "1_Pooling/config.json", &json_bytes(&pooling));
        assert_close(&embedded(&open(&model).unwrap(), &["holiday form"]).await[0], expected);
    }
}

#[tokio::test]
async fn pooling_without_a_list_of_modules_is_as_configured() {
    let tensors = reference::tensors(6);
    let tokens = reference::encode(&tensors, &ids("holiday form"), 0, true, reference::gelu);
    let first: Vec<f32> = tokens[0].iter().map(|component| *component as f32).collect();
    let model = bert(&tensors);
    // The folder alone says nothing.
    std::fs::create_dir(model.path().join("1_Pooling")).unwrap();
    let without = open(&model).unwrap();
    assert_close(&embedded(&without, &["holiday form"]).await[0], &mean(&tokens));
    write(model.path(), "1_Pooling/config.json", &json_bytes(&json!({"pooling_mode_cls_token": true})));
    let with = open(&model).unwrap();
    assert_close(&embedded(&with, &["holiday form"]).await[0], &first);
    assert_ne!(with.version(), without.version(), "the vectors cannot be compared");
    // A list without the module decides.
    write(model.path(), "modules.json", &modules(&[("", "Transformer")]));
    assert_close(&embedded(&open(&model).unwrap(), &["holiday form"]).await[0], &mean(&tokens));
}

#[tokio::test]
async fn texts_are_cut_to_the_maximum_length() {
    let tensors = reference::tensors(7);
    let long = "tax ".repeat(100);
    let expected = |words| mean(&reference::encode(&tensors, &ids(&"tax ".repeat(words)), 0, true, reference::gelu));
    let model = bert(&tensors);
    // Twelve positions, two of them for the ends.
    assert_close(&embedded(&open(&model).unwrap(), &[&long]).await[0], &expected(10));
    write(model.path(), "tokenizer_config.json", br#"{"model_max_length": 1000000000000000019884624838656}"#);
    assert_close(&embedded(&open(&model).unwrap(), &[&long]).await[0], &expected(10));
    write(model.path(), "tokenizer_config.json", br#"{"model_max_length": 9}"#);
    assert_close(&embedded(&open(&model).unwrap(), &[&long]).await[0], &expected(7));
    write(model.path(), "sentence_bert_config.json", br#"{"max_seq_length": 6, "do_lower_case": true}"#);
    let embedder = open(&model).unwrap();
    assert_close(&embedded(&embedder, &[&long]).await[0], &expected(4));
    // That file asks for lower case, too.
    assert_close(&embedded(&embedder, &["TAX"]).await[0], &expected(1));
    // It replaces the length of the tokenizer, also with a larger one, but adds no positions.
    write(model.path(), "tokenizer_config.json", br#"{"model_max_length": 6}"#);
    write(model.path(), "sentence_bert_config.json", br#"{"max_seq_length": 9}"#);
    assert_close(&embedded(&open(&model).unwrap(), &[&long]).await[0], &expected(7));
    write(model.path(), "sentence_bert_config.json", br#"{"max_seq_length": 1000}"#);
    assert_close(&embedded(&open(&model).unwrap(), &[&long]).await[0], &expected(10));
    write(model.path(), "sentence_bert_config.json", br#"{"max_seq_length": null}"#);
    assert_close(&embedded(&open(&model).unwrap(), &[&long]).await[0], &expected(4));
}

#[tokio::test]
async fn module_in_a_folder_of_its_own_is_found() {
    let tensors = reference::tensors(8);
    let model = folder(&[
        ("modules.json", modules(&[("0_Transformer", "Transformer"), ("1_Pooling", "Pooling")])),
        ("1_Pooling/config.json", json_bytes(&json!({"pooling_mode_mean_tokens": true}))),
        ("0_Transformer/config.json", json_bytes(&config())),
        ("0_Transformer/tokenizer.json", json_bytes(&tokenizer(&WORDS, template()))),
        ("0_Transformer/model.safetensors", file_of(&tensors)),
    ]);
    let embedder = open(&model).unwrap();
    let expected = reference::encode(&tensors, &ids("the tax"), 0, true, reference::gelu);
    let found = embedder.embed(TextKind::Query, &texts(&["the tax"])).await.unwrap();
    assert_close(&found[0], &mean(&expected));
}
