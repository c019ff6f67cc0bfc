//! Request and response formats of `/rerank` endpoints.

use std::sync::atomic::{AtomicBool, Ordering};

use models::ModelError;
use serde::{Deserialize, Serialize};

/// Format that the endpoint accepted last.
#[derive(Default)]
pub struct Dialect {
    texts: AtomicBool,
}

/// Format of requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// Cohere, Jina, vLLM.
    Documents,
    /// Text Embeddings Inference.
    Texts,
}

#[derive(Serialize)]
struct DocumentsRequest<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
    top_n: usize,
}

#[derive(Serialize)]
struct TextsRequest<'a> {
    query: &'a str,
    texts: &'a [String],
    /// Without it, a text too long for the model is an error.
    truncate: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Response {
    Results { results: Vec<Score> },
    List(Vec<Score>),
}

#[derive(Deserialize)]
struct Score {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f64,
}

impl Dialect {
    pub fn last_accepted(&self) -> Form {
        if self.texts.load(Ordering::Relaxed) { Form::Texts } else { Form::Documents }
    }

    pub fn remember(&self, form: Form) {
        self.texts.store(form == Form::Texts, Ordering::Relaxed);
    }
}

impl Form {
    pub fn other(self) -> Self {
        match self {
            Form::Documents => Form::Texts,
            Form::Texts => Form::Documents,
        }
    }

    pub fn body(self, model: &str, query: &str, texts: &[String]) -> Result<Vec<u8>, ModelError> {
        let body = match self {
            Form::Documents => {
                serde_json::to_vec(&DocumentsRequest { model, query, documents: texts, top_n: texts.len() })
            }
            Form::Texts => serde_json::to_vec(&TextsRequest { query, texts, truncate: true }),
        };
        body.map_err(|error| ModelError::InvalidResponse(error.to_string()))
    }

    /// Returns the scores in the order of the texts.
    ///
    /// # Errors
    /// `InvalidResponse` unless each of the `count` texts has exactly one finite score.
    pub fn scores(self, body: &[u8], count: usize) -> Result<Vec<f32>, ModelError> {
        let response: Response = serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))?;
        let (Response::Results { results: list } | Response::List(list)) = response;
        let mut scores = vec![None; count];
        for Score { index, score } in list {
            let Some(place) = scores.get_mut(index) else {
                return Err(invalid(format!("text {index} of {count} is scored")));
            };
            let score = score as f32;
            if !score.is_finite() || place.replace(score).is_some() {
                return Err(invalid(format!("text {index} is scored twice or with no finite number")));
            }
        }
        let missing = || invalid("not all texts are scored".to_owned());
        scores.into_iter().collect::<Option<Vec<f32>>>().ok_or_else(missing)
    }
}

fn invalid(detail: String) -> ModelError {
    ModelError::InvalidResponse(detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(answer: &str) -> Option<Vec<f32>> {
        Form::Documents.scores(answer.as_bytes(), 2).ok()
    }

    #[test]
    fn scores_of_both_formats_follow_the_order_of_the_texts() {
        let results = r#"{"id": "x", "results": [{"index": 1, "relevance_score": 0.5, "document": {"text": "b"}},
                          {"index": 0, "relevance_score": -1}], "usage": {"total_tokens": 3}}"#;
        assert_eq!(scores(results), Some(vec![-1.0, 0.5]));
        assert_eq!(scores(r#"[{"index": 1, "score": 0.25}, {"index": 0, "score": 0.5}]"#), Some(vec![0.5, 0.25]));
    }

    #[test]
    fn invalid_responses_are_rejected() {
        for answer in [
            "",
            "[]",
            "{}",
            "not JSON",
            r#"[{"index": 0, "score": 1}]"#,
            r#"[{"index": 0, "score": 1}, {"index": 0, "score": 1}]"#,
            r#"[{"index": 0, "score": 1}, {"index": 2, "score": 1}]"#,
            r#"[{"index": 0, "score": 1}, {"index": -1, "score": 1}]"#,
            r#"[{"index": 0, "score": 1e300}, {"index": 1, "score": 1}]"#,
            r#"[{"index": 0, "score": null}, {"index": 1, "score": 1}]"#,
        ] {
            assert_eq!(scores(answer), None, "{answer}");
        }
    }

    #[test]
    fn requests_follow_their_dialect() {
        let texts = ["a".to_owned(), "b".to_owned()];
        let body = |form: Form, model| String::from_utf8(form.body(model, "q", &texts).expect("JSON")).expect("UTF-8");
        assert_eq!(body(Form::Documents, "m"), r#"{"model":"m","query":"q","documents":["a","b"],"top_n":2}"#);
        assert_eq!(body(Form::Documents, ""), r#"{"query":"q","documents":["a","b"],"top_n":2}"#);
        assert_eq!(body(Form::Texts, "m"), r#"{"query":"q","texts":["a","b"],"truncate":true}"#);
    }
}
