//! Broken and hostile folders: an error names the file and the fault.

use models::embedding::Embedder;
use models_local::{LocalEmbedder, LocalEmbedderOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::encoders::{WORDS, bert, config};
use crate::generated::{
    Tensors, floats, json_bytes, open, options, safetensors, template, tokenizer, with_header, write,
};
use crate::reference;

/// Asserts that the folder is refused for a fault of this file.
fn refused(model: &TempDir, file: &str, reason: &str) {
    let Err(error) = open(model) else { panic!("{file}: {reason}: accepted") };
    assert!(error.path.ends_with(file) && error.reason.contains(reason), "{file}: {reason}: {error}");
}

fn good() -> TempDir {
    bert(&reference::tensors(1))
}

/// A model with changed tensors.
fn with(change: impl FnOnce(&mut Tensors)) -> TempDir {
    let mut tensors = reference::tensors(1);
    change(&mut tensors);
    bert(&tensors)
}

#[test]
fn missing_and_malformed_files_are_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let model = good();
        std::fs::remove_file(model.path().join(file)).unwrap();
        refused(&model, file, if file == "config.json" { "is missing" } else { "No such file" });
        std::fs::create_dir(model.path().join(file)).unwrap();
        refused(&model, file, "is no file");
    }
    for file in ["config.json", "tokenizer.json", "modules.json", "sentence_bert_config.json"] {
        for content in ["", "[1", "\"text\""] {
            let model = good();
            write(model.path(), file, content.as_bytes());
            refused(&model, file, "");
        }
    }
    let model = good();
    write(model.path(), "modules.json", &json_bytes(&json!([{"path": "1_Pooling", "type": "Pooling"}])));
    refused(&model, "1_Pooling/config.json", "is missing");
    let model = good();
    write(model.path(), "1_Pooling/config.json", br#"{"pooling_mode": "lasttoken"}"#);
    refused(&model, "1_Pooling/config.json", "pooling `lasttoken`");
    let model = good();
    std::fs::remove_file(model.path().join("model.safetensors")).unwrap();
    write(model.path(), "pytorch_model.bin", b"");
    refused(&model, "model.safetensors", "convert the weights to a single safetensors file");
    let nowhere = TempDir::new().unwrap();
    std::fs::remove_dir(nowhere.path()).unwrap();
    refused(&nowhere, nowhere.path().file_name().unwrap().to_str().unwrap(), "is no folder");
}

#[test]
fn unsupported_modules_are_named() {
    for (path, class, reason) in [
        ("2_Dense", "sentence_transformers.models.Dense", "module `Dense` is not supported"),
        ("../elsewhere", "sentence_transformers.models.Pooling", "the path `../elsewhere` leads out of the folder"),
        ("/etc", "sentence_transformers.models.Pooling", "the path `/etc` leads out of the folder"),
    ] {
        let model = good();
        let modules =
            json!([{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": path, "type": class}]);
        write(model.path(), "modules.json", &json_bytes(&modules));
        refused(&model, "modules.json", reason);
    }
    let model = good();
    write(model.path(), "modules.json", &json_bytes(&json!([{"path": "1_Pooling", "type": "Pooling"}])));
    write(
        model.path(),
        "1_Pooling/config.json",
        br#"{"pooling_mode_cls_token": true, "pooling_mode_lasttoken": true}"#,
    );
    refused(&model, "1_Pooling/config.json", "pooling `cls + lasttoken`");
}

#[test]
fn unsupported_configurations_are_named() {
    for (key, value, reason) in [
        ("model_type", json!("t5"), "`model_type` = `t5`"),
        ("hidden_act", json!("swish"), "`hidden_act` = `swish`"),
        ("position_embedding_type", json!("relative_key"), "must be `absolute`"),
        ("num_attention_heads", json!(0), "`num_attention_heads` = 0: must be between"),
        ("num_attention_heads", json!(3), "must be a multiple of `num_attention_heads` = 3"),
        ("num_hidden_layers", json!(1_000_000_000), "must be between"),
        ("hidden_size", json!(-1), ""),
        ("intermediate_size", Value::Null, "has no `intermediate_size`"),
    ] {
        let model = good();
        let mut config = config();
        config[key] = value;
        write(model.path(), "config.json", &json_bytes(&config));
        refused(&model, "config.json", reason);
    }
}

#[test]
fn missing_and_misshapen_tensors_are_named() {
    for name in reference::tensors(1).into_keys() {
        // Some architectures have none.
        if name.contains("token_type") {
            continue;
        }
        refused(&with(|tensors| drop(tensors.remove(&name))), "model.safetensors", &name);
        let transposed = with(|tensors| {
            let tensor = tensors.get_mut(&name).unwrap();
            tensor.shape.insert(0, 1);
        });
        refused(&transposed, "model.safetensors", &name);
        let broken = with(|tensors| tensors.get_mut(&name).unwrap().numbers[3] = f32::NAN);
        refused(&broken, "model.safetensors", "is not finite");
    }
    let model = good();
    let mut config = config();
    config["hidden_size"] = json!(16);
    write(model.path(), "config.json", &json_bytes(&config));
    refused(&model, "model.safetensors", "[9, 16] is expected");
    config["hidden_size"] = json!(8);
    config["num_hidden_layers"] = json!(60_000);
    write(model.path(), "config.json", &json_bytes(&config));
    refused(&model, "model.safetensors", "has no tensor `encoder.layer.2.");
    config["num_hidden_layers"] = json!(2);
    config["model_type"] = json!("roberta");
    config["pad_token_id"] = json!(u64::MAX);
    write(model.path(), "config.json", &json_bytes(&config));
    refused(&model, "model.safetensors", "has 12 positions");
}

#[test]
fn weights_without_a_finite_result_are_refused() {
    let overflowing = with(|tensors| {
        for tensor in tensors.values_mut() {
            tensor.numbers.fill(f32::MAX);
        }
    });
    let name = overflowing.path().file_name().unwrap().to_str().unwrap().to_owned();
    refused(&overflowing, &name, "a vector is not finite");
}

#[test]
fn files_that_are_no_safetensors_are_refused() {
    let shape = |shape: &str, end: &str| {
        format!(r#"{{"embeddings": {{"dtype": "F32", "shape": {shape}, "data_offsets": [0, {end}]}}}}"#)
    };
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for bytes in [
        Vec::new(),
        vec![0xff; 64],
        (1_u64 << 40).to_le_bytes().to_vec(),
        with_header("{}", b"rest"),
        with_header("not JSON", b""),
        with_header(&nested, b""),
        with_header(&shape("[2, 2]", "16"), &[0; 8]),
        with_header(&shape("[4294967296, 4294967296]", "16"), &[0; 16]),
        with_header(&shape("[18446744073709551615, 2]", "16"), &[0; 16]),
        with_header(&shape("[1, 2]", "99999999999"), &[0; 16]),
    ] {
        let model = good();
        write(model.path(), "model.safetensors", &bytes);
        refused(&model, "model.safetensors", "is no safetensors file");
    }
    for (tensors, reason) in [
        (safetensors(&[("embeddings", "F32", &[9, 0], vec![])]), "a table is expected"),
        (safetensors(&[("embeddings", "F32", &[9], floats(&[1.0; 9]))]), "a table is expected"),
        (safetensors(&[("embeddings", "I64", &[9, 1], vec![0; 72])]), "unsupported type"),
        (
            safetensors(&[("embeddings", "F32", &[2, 1], floats(&[1.0; 2])), ("mapping", "I64", &[9], vec![0xff; 72])]),
            "index that is not below 2",
        ),
        (
            safetensors(&[("embeddings", "F32", &[9, 1], floats(&[1.0; 9])), ("weights", "F32", &[2], vec![0; 8])]),
            "tensor `weights` has the shape [2]",
        ),
    ] {
        let model = good();
        write(model.path(), "model.safetensors", &tensors);
        refused(&model, "model.safetensors", reason);
    }
}

#[test]
fn vectors_with_too_many_components_are_refused() {
    let model = good();
    let table = safetensors(&[("embeddings", "F32", &[9, 8_193], floats(&[0.5; 9 * 8_193]))]);
    write(model.path(), "model.safetensors", &table);
    let name = model.path().file_name().unwrap().to_str().unwrap().to_owned();
    refused(&model, &name, "more than 8192: set `embed.dimensions`");
    for dimensions in [256, 8_192] {
        let options = LocalEmbedderOptions { dimensions, ..options() };
        let embedder = LocalEmbedder::open(model.path(), options).unwrap();
        assert_eq!(embedder.dimensions(), Some(dimensions));
    }
}

#[test]
fn tokenizers_that_do_not_fit_are_refused() {
    let model = good();
    let many: Vec<String> = (0..20).map(|number| format!("word{number}")).collect();
    let mut words = WORDS.to_vec();
    words.extend(many.iter().map(String::as_str));
    write(model.path(), "tokenizer.json", &json_bytes(&tokenizer(&words, template())));
    refused(&model, "tokenizer.json", "has a token with the id 28, and the model has 9 tokens");
    write(model.path(), "tokenizer.json", &json_bytes(&tokenizer(&[], Value::Null)));
    refused(&model, "tokenizer.json", "");

    // Tokens at the ends of texts are in no vocabulary.
    let mut outside = template();
    outside["special_tokens"]["[CLS]"]["ids"] = json!([4_000_000_000_u32]);
    write(model.path(), "tokenizer.json", &json_bytes(&tokenizer(&WORDS, outside)));
    let name = model.path().file_name().unwrap().to_str().unwrap().to_owned();
    refused(&model, &name, "token 4000000000 has no vector");

    write(model.path(), "tokenizer.json", &json_bytes(&tokenizer(&WORDS, template())));
    write(model.path(), "sentence_bert_config.json", br#"{"max_seq_length": 1}"#);
    refused(&model, "tokenizer.json", "adds 2 tokens to a text, and the model reads at most 1");
}
