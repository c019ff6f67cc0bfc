use std::sync::Mutex;

use async_trait::async_trait;
use models::ModelError;
use models::scoring::Reranker;

/// A model that prefers texts with a certain word, and fails without one.
#[derive(Default)]
pub struct TestReranker {
    preferred: Option<String>,
    calls: Mutex<Vec<Vec<String>>>,
}

impl TestReranker {
    /// A model that scores texts with `word` above all others.
    pub fn preferring(word: &str) -> Self {
        Self { preferred: Some(word.to_owned()), ..Self::default() }
    }

    /// A model that cannot be reached.
    pub fn unreachable() -> Self {
        Self::default()
    }

    /// All texts so far.
    pub fn texts(&self) -> Vec<String> {
        self.calls().concat()
    }

    /// The texts of each call so far.
    pub fn calls(&self) -> Vec<Vec<String>> {
        self.calls.lock().unwrap().clone()
    }
}

#[async_trait]
impl Reranker for TestReranker {
    async fn score(&self, _query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError> {
        self.calls.lock().unwrap().push(texts.to_vec());
        let Some(preferred) = &self.preferred else { return Err(ModelError::Unreachable("the model is away".into())) };
        Ok(texts.iter().map(|text| if text.contains(preferred) { 0.9 } else { 0.1 }).collect())
    }

    fn version(&self) -> &str {
        "test_model"
    }

    fn is_healthy(&self) -> bool {
        self.preferred.is_some()
    }
}
