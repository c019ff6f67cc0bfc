use std::time::Duration;

use models::ModelError;
use models::embedding::{Embedder, TextKind};
use models_local::{LocalEmbedder, LocalEmbedderOptions};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::encoders::{bert, config};
use crate::generated::{
    assert_close, embedded, file_of, folder, json_bytes, open, options, template, texts, tokenizer, write,
};
use crate::reference;

#[tokio::test]
async fn many_texts_come_back_in_order() {
    let embedder = open(&bert(&reference::tensors(1))).unwrap();
    let words = ["holiday", "the tax form", "vacation", "tax"];
    let many: Vec<&str> = (0..200).map(|number| words[number % 4]).collect();
    let found = embedded(&embedder, &many).await;
    let single = embedded(&embedder, &words).await;
    for (number, vector) in found.iter().enumerate() {
        assert_close(vector, &single[number % 4]);
        let length: f32 = vector.iter().map(|component| component * component).sum();
        assert!((length - 1.0).abs() < 1e-5);
    }
    assert!(embedder.embed(TextKind::Query, &[]).await.unwrap().is_empty());
    assert!(embedder.is_healthy());
}

#[tokio::test]
async fn queries_and_documents_have_their_prefixes() {
    let model = bert(&reference::tensors(2));
    let plain = open(&model).unwrap();
    let prefixed = LocalEmbedderOptions { query_prefix: "the ".into(), document_prefix: "form ".into(), ..options() };
    let prefixed = LocalEmbedder::open(model.path(), prefixed).unwrap();
    let expected = embedded(&plain, &["the tax", "form tax"]).await;
    let query = prefixed.embed(TextKind::Query, &texts(&["tax"])).await.unwrap();
    assert_close(&query[0], &expected[0]);
    assert_close(&embedded(&prefixed, &["tax"]).await[0], &expected[1]);
}

#[tokio::test]
async fn texts_without_known_tokens_have_no_vector() {
    let model = bert(&reference::tensors(7));
    let zeros = vec![0.0; reference::HIDDEN];
    let plain = open(&model).unwrap();
    let found = embedded(&plain, &["unheard of", "unheard-of tax", "unheard"]).await;
    assert_eq!((&found[0], &found[2]), (&zeros, &zeros));
    assert_ne!(found[1], zeros);
    let prefixed = LocalEmbedderOptions { query_prefix: "the ".into(), document_prefix: "form ".into(), ..options() };
    let prefixed = LocalEmbedder::open(model.path(), prefixed).unwrap();
    assert_eq!(prefixed.embed(TextKind::Query, &texts(&["unheard of"])).await.unwrap(), std::slice::from_ref(&zeros));
    assert_eq!(embedded(&prefixed, &["unheard", "of"]).await, [zeros.clone(), zeros]);
}

/// Folder of an encoder with another tokenizer.
fn encoder_with(tokenizer: &Value) -> TempDir {
    let files =
        [("tokenizer.json", tokenizer), ("config.json", &config())].map(|(name, value)| (name, json_bytes(value)));
    let folder = folder(&files);
    write(folder.path(), "model.safetensors", &file_of(&reference::tensors(7)));
    folder
}

/// A tokenizer as of SentencePiece: a mark begins each word, and belongs to no word that is unknown.
fn unigram() -> Value {
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "post_processor": {"type": "RobertaProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2], "trim_offsets": false,
                           "add_prefix_space": false},
        "decoder": null,
        "model": {"type": "Unigram", "unk_id": 3, "byte_fallback": false, "vocab": [
            ["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0], ["▁", -2.0], ["▁holiday", -1.0], ["?", -2.0],
        ]},
    })
}

#[tokio::test]
async fn marks_are_no_known_words() {
    let zeros = vec![0.0; reference::HIDDEN];
    let model = encoder_with(&unigram());
    let prefixed = LocalEmbedderOptions { document_prefix: "holiday ".into(), ..options() };
    for options in [options(), prefixed] {
        let embedder = LocalEmbedder::open(model.path(), options).unwrap();
        let found = embedded(&embedder, &["漢字", "漢字 仮名", "漢字?", "holiday 漢字", "?"]).await;
        assert_eq!(found[..3], [zeros.clone(), zeros.clone(), zeros.clone()]);
        assert_ne!(found[3], zeros);
        assert_ne!(found[4], zeros, "nothing is unknown");
    }
    let words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "holiday", "?"];
    let embedder = open(&encoder_with(&tokenizer(&words, template()))).unwrap();
    let found = embedded(&embedder, &["unheard?", "unheard of ???", "unheard holiday?"]).await;
    // Whitespace divides words and marks: `???` is one token, and unknown.
    assert_eq!(found[..2], [zeros.clone(), zeros.clone()]);
    assert_ne!(found[2], zeros);
}

#[tokio::test]
async fn first_components_are_kept_if_fewer_are_wanted() {
    let model = bert(&reference::tensors(3));
    let whole = embedded(&open(&model).unwrap(), &["tax"]).await;
    let cut = LocalEmbedder::open(model.path(), LocalEmbedderOptions { dimensions: 3, ..options() }).unwrap();
    assert_eq!(cut.dimensions(), Some(3));
    assert_close(&embedded(&cut, &["tax"]).await[0], &whole[0][..3]);
    let Err(error) = LocalEmbedder::open(model.path(), LocalEmbedderOptions { dimensions: 9, ..options() }) else {
        panic!("more components than the model has")
    };
    assert!(error.to_string().ends_with("has vectors of 8 components, fewer than 9"), "{error}");
}

#[tokio::test]
async fn late_queries_end_at_their_timeout() {
    let model = bert(&reference::tensors(4));
    let options = LocalEmbedderOptions { timeout: Duration::ZERO, ..options() };
    let embedder = LocalEmbedder::open(model.path(), options).unwrap();
    let late = embedder.embed(TextKind::Query, &vec!["tax form".to_owned(); 1_000]).await;
    assert!(matches!(late, Err(ModelError::Timeout)));
    assert!(!embedder.is_healthy());
    embedded(&embedder, &["tax"]).await;
    assert!(embedder.is_healthy());
}

#[test]
fn version_names_the_folder_and_all_that_changes_vectors() {
    let model = bert(&reference::tensors(5));
    let version = |options| LocalEmbedder::open(model.path(), options).unwrap().version().to_owned();
    let first = version(options());
    let name = model.path().file_name().unwrap().to_string_lossy();
    assert!(first.starts_with(&format!("local:{name}:")), "{first}");
    assert_eq!(first.rsplit(':').next().unwrap().len(), 12);
    assert_eq!(version(LocalEmbedderOptions { batch: 1, threads: 3, ..options() }), first);
    assert_eq!(version(LocalEmbedderOptions { dimensions: reference::HIDDEN, ..options() }), first);

    let mut versions = vec![
        first,
        version(LocalEmbedderOptions { query_prefix: "a".into(), ..options() }),
        version(LocalEmbedderOptions { document_prefix: "a".into(), ..options() }),
        version(LocalEmbedderOptions { dimensions: 3, ..options() }),
    ];
    write(model.path(), "sentence_bert_config.json", br#"{"max_seq_length": 6}"#);
    versions.push(version(options()));
    let other = crate::generated::file_of(&reference::tensors(6));
    write(model.path(), "model.safetensors", &other);
    versions.push(version(options()));
    let count = versions.len();
    versions.sort();
    versions.dedup();
    assert_eq!(versions.len(), count, "{versions:?}");
}
