use std::time::Duration;

use models::ModelError;
use models::embedding::{Embedder, TextKind};
use models_local::{LocalEmbedder, LocalEmbedderOptions};

use crate::encoders::bert;
use crate::generated::{assert_close, embedded, open, options, texts, write};
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
