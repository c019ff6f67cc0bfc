//! Any JSON endpoint, through a mapping.

use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use serde_json::{Map, Value};
use web_providers::{Applied, ProviderError, TextLimits, WebProvider, WebQuery, WebResponse, WebResult, parse_date};

use crate::endpoint::{Endpoint, EndpointError};

/// Limits that common services accept.
const TEXT: TextLimits = TextLimits { chars: 500, words: 100 };

/// Place of the query in a request.
#[derive(Clone, Debug)]
pub enum QueryPlace {
    /// `GET` with this parameter.
    Parameter(String),
    /// `POST` of `body` with the query at `pointer`, a JSON pointer.
    Body { pointer: String, body: Map<String, Value> },
}

/// Places of values in the answer, as JSON pointers (RFC 6901). An empty one of a title, snippet or date: there is none.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// List of results, from the root.
    pub results: String,
    /// Values of one result.
    pub url: String,
    pub title: String,
    pub snippet: String,
    pub date: String,
}

#[derive(Clone)]
pub struct MappedOptions {
    pub url: String,
    /// Header with the key.
    pub header: Option<(String, String)>,
    pub query: QueryPlace,
    /// Parameter of the two-letter code, if the endpoint has one.
    pub country_parameter: Option<String>,
    /// Parameter of the two-letter code, if the endpoint has one.
    pub language_parameter: Option<String>,
    pub mapping: Mapping,
    pub timeout: Duration,
}

/// Provider with the name `http`.
pub struct Mapped {
    endpoint: Endpoint,
    options: MappedOptions,
}

impl Mapped {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// The URL, the header or the key is invalid.
    pub fn new(options: MappedOptions) -> Result<Self, EndpointError> {
        let header = options.header.as_ref().map(|(name, key)| (name.as_str(), key.as_str()));
        let endpoint = Endpoint::new(&options.url, header, options.timeout, |_| "check the keys of `web.http`")?;
        Ok(Self { endpoint, options })
    }
}

#[async_trait]
impl WebProvider for Mapped {
    fn name(&self) -> &'static str {
        "http"
    }

    async fn search(&self, query: &WebQuery, _now: Timestamp) -> Result<WebResponse, ProviderError> {
        let text = query.operators(TEXT);
        if text.is_empty() {
            return Ok(WebResponse::default());
        }
        let options = &self.options;
        let country = options.country_parameter.as_deref().zip(query.country.as_deref());
        let language = options.language_parameter.as_deref().zip(query.language.as_deref());
        let mut parameters: Vec<(&str, &str)> = country.into_iter().chain(language).collect();
        let answer = match &options.query {
            QueryPlace::Parameter(name) => {
                parameters.push((name, &text));
                self.endpoint.get(&parameters).await?
            }
            QueryPlace::Body { pointer, body } => {
                let mut body = Value::Object(body.clone());
                insert(&mut body, pointer, Value::String(text));
                self.endpoint.post(&parameters, &body).await?
            }
        };
        let applied = Applied { country: country.is_some(), language: language.is_some() };
        options.mapping.response(&answer, applied)
    }
}

impl Mapping {
    fn response(&self, answer: &Value, applied: Applied) -> Result<WebResponse, ProviderError> {
        let Some(items) = answer.pointer(&self.results).and_then(Value::as_array) else {
            return Err(ProviderError::InvalidResponse(format!("it has no list at `{}`", self.results)));
        };
        Ok(WebResponse::new(items.iter().filter_map(|item| self.result(item)), applied))
    }

    fn result(&self, item: &Value) -> Option<WebResult> {
        let value = |pointer: &str| if pointer.is_empty() { None } else { item.pointer(pointer) };
        let text = |pointer| value(pointer).and_then(Value::as_str).unwrap_or_default();
        let url = item.pointer(&self.url).and_then(Value::as_str)?;
        let result = WebResult::new(url, text(&self.title), text(&self.snippet))?;
        let date = match value(&self.date) {
            Some(Value::Number(number)) => number.as_i64().map(|number| number.to_string()),
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        };
        Some(WebResult { published_at: date.as_deref().and_then(parse_date), ..result })
    }
}

/// Puts a value at a JSON pointer, with the objects above it.
fn insert(root: &mut Value, pointer: &str, value: Value) {
    let mut place = root;
    for name in pointer.split('/').skip(1) {
        let name = name.replace("~1", "/").replace("~0", "~");
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        let Value::Object(object) = place else { return };
        place = object.entry(name).or_insert(Value::Null);
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn query_is_put_at_its_pointer() {
        let mut body = json!({"max": 5, "input": {"kind": "web"}});
        insert(&mut body, "/input/text", json!("tides"));
        insert(&mut body, "/a~1b/c", json!("x"));
        assert_eq!(body, json!({"max": 5, "input": {"kind": "web", "text": "tides"}, "a/b": {"c": "x"}}));
    }
}
