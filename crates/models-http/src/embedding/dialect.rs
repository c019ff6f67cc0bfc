//! Request and response formats of embeddings endpoints.

use models::ModelError;
use models::embedding::TextKind;
use serde::{Deserialize, Serialize};

use super::vectors::invalid;

/// Format of requests and responses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// OpenAI, vLLM, Ollama, llama.cpp and most others.
    OpenAi,
    /// Text Embeddings Inference, its own route.
    Tei,
    /// Cohere, version 2.
    Cohere,
    /// Jina: that of OpenAI with a task.
    Jina,
}

#[derive(Serialize)]
struct OpenAiRequest<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
    #[serde(flatten)]
    jina: Option<JinaFields<'a>>,
}

#[derive(Serialize)]
struct JinaFields<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    task: &'a str,
    embedding_type: &'a str,
    truncate: bool,
}

#[derive(Serialize)]
struct TeiRequest<'a> {
    inputs: &'a [String],
    /// Without it, a text too long for the model is an error.
    truncate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Serialize)]
struct CohereRequest<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    texts: &'a [String],
    input_type: &'a str,
    embedding_types: [&'a str; 1],
    truncate: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimension: Option<usize>,
}

#[derive(Deserialize)]
struct OpenAiResponse {
    data: Vec<OpenAiVector>,
}

#[derive(Deserialize)]
struct OpenAiVector {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct CohereResponse {
    embeddings: CohereVectors,
}

#[derive(Deserialize)]
struct CohereVectors {
    float: Vec<Vec<f32>>,
}

impl Dialect {
    /// Completes the path of the URL, and returns the dialect of the result.
    pub fn choose(url: &mut reqwest::Url, model: &str) -> Self {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        let belongs_to =
            |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        let is_cohere = belongs_to("cohere.com") || belongs_to("cohere.ai");
        let path = match url.path().trim_end_matches('/') {
            "" if is_cohere => "/v2/embed".to_owned(),
            "" => "/v1/embeddings".to_owned(),
            path if path.ends_with("/v1") => format!("{path}/embeddings"),
            path if path.ends_with("/v2") => format!("{path}/embed"),
            path => path.to_owned(),
        };
        url.set_path(&path);
        if path.ends_with("/embed") {
            return if is_cohere || path.ends_with("/v2/embed") { Dialect::Cohere } else { Dialect::Tei };
        }
        // Jina's own names; those of its open models elsewhere have a prefix, such as `jinaai/`.
        if belongs_to("jina.ai") || model.starts_with("jina-") { Dialect::Jina } else { Dialect::OpenAi }
    }

    /// Returns the largest number of texts that the dialect permits in a request.
    pub fn max_batch(self) -> usize {
        match self {
            Dialect::OpenAi => 2_048,
            Dialect::Tei | Dialect::Jina => 512,
            Dialect::Cohere => 96,
        }
    }

    /// Returns the name of the task for texts of this kind; empty if the dialect or the model has none.
    pub fn task(self, model: &str, kind: TextKind) -> &'static str {
        let (query, document) = match self {
            Dialect::OpenAi | Dialect::Tei => ("", ""),
            Dialect::Cohere => ("search_query", "search_document"),
            Dialect::Jina => jina_tasks(model),
        };
        match kind {
            TextKind::Query => query,
            TextKind::Document => document,
        }
    }

    pub fn body(
        self,
        model: &str,
        kind: TextKind,
        texts: &[String],
        dimensions: Option<usize>,
    ) -> Result<Vec<u8>, ModelError> {
        let task = self.task(model, kind);
        let body = match self {
            Dialect::OpenAi => serde_json::to_vec(&OpenAiRequest { model, input: texts, dimensions, jina: None }),
            Dialect::Jina => {
                let jina = Some(JinaFields { task, embedding_type: "float", truncate: true });
                serde_json::to_vec(&OpenAiRequest { model, input: texts, dimensions, jina })
            }
            Dialect::Tei => serde_json::to_vec(&TeiRequest { inputs: texts, truncate: true, dimensions }),
            Dialect::Cohere => serde_json::to_vec(&CohereRequest {
                model,
                texts,
                input_type: task,
                embedding_types: ["float"],
                truncate: "END",
                output_dimension: dimensions,
            }),
        };
        body.map_err(|error| invalid(error.to_string()))
    }

    /// Returns the vectors of a response in the order of the texts, unchecked otherwise.
    ///
    /// # Errors
    /// `InvalidResponse` for another format, and for places that are no permutation.
    pub fn read(self, body: &[u8]) -> Result<Vec<Vec<f32>>, ModelError> {
        match self {
            Dialect::OpenAi | Dialect::Jina => in_order(parse::<OpenAiResponse>(body)?.data),
            Dialect::Tei => parse(body),
            Dialect::Cohere => Ok(parse::<CohereResponse>(body)?.embeddings.float),
        }
    }
}

/// Returns the tasks of a model of Jina for queries and for documents, empty where it has none: the endpoint rejects any other.
fn jina_tasks(model: &str) -> (&'static str, &'static str) {
    let is_of = |family: &str| model.starts_with(family);
    if is_of("jina-code-embeddings-") {
        ("nl2code.query", "nl2code.passage")
    } else if is_of("jina-clip-v2") {
        ("retrieval.query", "")
    } else if ["jina-embeddings-v2-", "jina-clip-", "jina-colbert-"].into_iter().any(is_of) {
        ("", "")
    } else {
        ("retrieval.query", "retrieval.passage")
    }
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ModelError> {
    serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))
}

/// Sorts vectors by their index. Some servers leave all of them out.
fn in_order(list: Vec<OpenAiVector>) -> Result<Vec<Vec<f32>>, ModelError> {
    if list.iter().all(|vector| vector.index.is_none()) {
        return Ok(list.into_iter().map(|vector| vector.embedding).collect());
    }
    let count = list.len();
    let mut vectors = vec![None; count];
    for OpenAiVector { index, embedding } in list {
        let index = index.ok_or_else(|| invalid("a vector has no index".to_owned()))?;
        let place = vectors.get_mut(index).ok_or_else(|| invalid(format!("index {index} in {count} vectors")))?;
        if place.replace(embedding).is_some() {
            return Err(invalid(format!("two vectors with index {index}")));
        }
    }
    // As many vectors as places, and none twice: every place is filled.
    Ok(vectors.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_host_select_the_dialect() {
        for (url, model, expected, dialect) in [
            ("http://host:8080", "", "http://host:8080/v1/embeddings", Dialect::OpenAi),
            ("http://host:8080/", "", "http://host:8080/v1/embeddings", Dialect::OpenAi),
            ("http://host/v1", "", "http://host/v1/embeddings", Dialect::OpenAi),
            ("http://host/openai/v1/", "", "http://host/openai/v1/embeddings", Dialect::OpenAi),
            ("http://host/v1/embeddings", "", "http://host/v1/embeddings", Dialect::OpenAi),
            ("http://host/api/embeddings", "", "http://host/api/embeddings", Dialect::OpenAi),
            ("http://host/embed", "", "http://host/embed", Dialect::Tei),
            ("http://host/tei/embed/", "", "http://host/tei/embed", Dialect::Tei),
            ("http://host/v2/embed", "", "http://host/v2/embed", Dialect::Cohere),
            ("http://host/v2", "", "http://host/v2/embed", Dialect::Cohere),
            ("https://api.cohere.com", "", "https://api.cohere.com/v2/embed", Dialect::Cohere),
            ("https://API.Cohere.ai/", "", "https://api.cohere.ai/v2/embed", Dialect::Cohere),
            (
                "https://api.cohere.ai/compatibility/v1",
                "",
                "https://api.cohere.ai/compatibility/v1/embeddings",
                Dialect::OpenAi,
            ),
            ("https://notcohere.com", "", "https://notcohere.com/v1/embeddings", Dialect::OpenAi),
            ("https://api.jina.ai", "", "https://api.jina.ai/v1/embeddings", Dialect::Jina),
            ("http://gateway/v1", "jina-embeddings-v3", "http://gateway/v1/embeddings", Dialect::Jina),
            ("http://vllm/v1", "jinaai/jina-embeddings-v3", "http://vllm/v1/embeddings", Dialect::OpenAi),
        ] {
            let mut complete = reqwest::Url::parse(url).expect("a URL");
            assert_eq!(Dialect::choose(&mut complete, model), dialect, "{url}");
            assert_eq!(complete.as_str(), expected);
        }
    }

    #[test]
    fn requests_follow_their_dialect() {
        let texts = ["a".to_owned(), "b".to_owned()];
        for (dialect, kind, dimensions, expected) in [
            (Dialect::OpenAi, TextKind::Query, None, r#"{"model":"m","input":["a","b"]}"#),
            (Dialect::OpenAi, TextKind::Query, Some(64), r#"{"model":"m","input":["a","b"],"dimensions":64}"#),
            (Dialect::Tei, TextKind::Query, None, r#"{"inputs":["a","b"],"truncate":true}"#),
            (Dialect::Tei, TextKind::Document, Some(64), r#"{"inputs":["a","b"],"truncate":true,"dimensions":64}"#),
            (
                Dialect::Cohere,
                TextKind::Query,
                Some(64),
                r#"{"model":"m","texts":["a","b"],"input_type":"search_query","embedding_types":["float"],"truncate":"END","output_dimension":64}"#,
            ),
            (
                Dialect::Jina,
                TextKind::Document,
                None,
                r#"{"model":"m","input":["a","b"],"task":"retrieval.passage","embedding_type":"float","truncate":true}"#,
            ),
        ] {
            let body = dialect.body("m", kind, &texts, dimensions).expect("JSON");
            assert_eq!(String::from_utf8(body).expect("UTF-8"), expected);
        }
        let unnamed = Dialect::OpenAi.body("", TextKind::Query, &texts, None).expect("JSON");
        assert_eq!(unnamed, br#"{"input":["a","b"]}"#);
    }

    #[test]
    fn tasks_of_jina_are_those_of_the_model() {
        let sent = |model: &str, kind: TextKind| {
            let body = Dialect::Jina.body(model, kind, &["a".to_owned()], None).expect("JSON");
            let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(body["truncate"], true, "{model}");
            body.get("task").map(|task| task.as_str().expect("a text").to_owned())
        };
        let retrieval = (Some("retrieval.query"), Some("retrieval.passage"));
        for (model, expected) in [
            ("jina-embeddings-v3", retrieval),
            ("jina-embeddings-v4", retrieval),
            ("jina-embeddings-v5-text-small", retrieval),
            ("", retrieval),
            ("jina-code-embeddings-0.5b", (Some("nl2code.query"), Some("nl2code.passage"))),
            ("jina-code-embeddings-1.5b", (Some("nl2code.query"), Some("nl2code.passage"))),
            ("jina-clip-v2", (Some("retrieval.query"), None)),
            ("jina-clip-v1", (None, None)),
            ("jina-embeddings-v2-base-en", (None, None)),
            ("jina-embeddings-v2-base-code", (None, None)),
            ("jina-colbert-v2", (None, None)),
        ] {
            let tasks = (sent(model, TextKind::Query), sent(model, TextKind::Document));
            assert_eq!((tasks.0.as_deref(), tasks.1.as_deref()), expected, "{model}");
        }
    }

    #[test]
    fn vectors_are_read_in_the_order_of_the_texts() {
        let expected = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
        for (dialect, answer) in [
            (
                Dialect::OpenAi,
                r#"{"object": "list", "data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2]}],
                    "usage": {"total_tokens": 2}}"#,
            ),
            (Dialect::OpenAi, r#"{"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}"#),
            (Dialect::Tei, "[[1, 2], [3, 4]]"),
            (Dialect::Cohere, r#"{"id": "x", "embeddings": {"float": [[1, 2], [3, 4]]}, "texts": ["a", "b"]}"#),
        ] {
            assert_eq!(dialect.read(answer.as_bytes()).expect(answer), expected);
        }
    }

    #[test]
    fn other_formats_are_rejected() {
        for answer in [
            "",
            "null",
            "{}",
            "not JSON",
            r#"{"data": null}"#,
            r#"{"data": [{"index": 0, "embedding": null}]}"#,
            r#"{"data": [{"index": 0, "embedding": "AACAPwAAAEA="}]}"#,
            r#"{"data": [{"index": 0, "embedding": [1, null]}]}"#,
            r#"{"data": [{"index": 0, "embedding": [1, "2"]}]}"#,
            r#"{"data": [{"index": 0, "embedding": [[1], [2]]}]}"#,
            r#"{"data": [{"index": 0, "embedding": [NaN]}]}"#,
            r#"{"data": [{"index": 1, "embedding": [1]}]}"#,
            r#"{"data": [{"index": -1, "embedding": [1]}]}"#,
            r#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#,
            r#"{"data": [{"index": 0, "embedding": [1]}, {"embedding": [1]}]}"#,
        ] {
            assert!(Dialect::OpenAi.read(answer.as_bytes()).is_err(), "{answer}");
        }
        for answer in ["[1, 2]", "[[1], null]", "{}", r#"["AAAA"]"#] {
            assert!(Dialect::Tei.read(answer.as_bytes()).is_err(), "{answer}");
        }
        for answer in ["[[1, 2]]", r#"{"embeddings": [[1, 2]]}"#, r#"{"embeddings": {"int8": [[1, 2]]}}"#] {
            assert!(Dialect::Cohere.read(answer.as_bytes()).is_err(), "{answer}");
        }
    }
}
