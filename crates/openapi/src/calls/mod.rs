//! Example requests, and the code that sends them.

mod curl;
mod javascript;
mod python;

use serde_json::Value;

use crate::{Method, Parameter, Spec};

/// Environment variable with the API key, also read by the command line.
const KEY_VARIABLE: &str = "RETRIEVAL_API_KEY";

/// An example request.
#[derive(Clone, Debug)]
pub struct Call {
    pub summary: &'static str,
    pub method: Method,
    /// Path and query, percent-encoded.
    pub target: String,
    pub body: Option<Value>,
}

/// A language of [`Call::code`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Language {
    Curl,
    /// Uses `requests`.
    Python,
    /// Uses `fetch`.
    JavaScript,
}

impl Language {
    pub const ALL: [Language; 3] = [Language::Curl, Language::Python, Language::JavaScript];

    pub const fn name(self) -> &'static str {
        match self {
            Language::Curl => "curl",
            Language::Python => "Python",
            Language::JavaScript => "JavaScript",
        }
    }
}

impl Call {
    /// Returns the examples of an operation, the simplest one first.
    pub fn of(operation: &Spec) -> Vec<Self> {
        let path = filled(operation.path, operation.path_parameters);
        let call =
            |summary, target: &str, body| Call { summary, method: operation.method, target: target.to_owned(), body };
        let mut examples = (operation.request_examples)();
        examples.sort_by_key(|example| example.value.to_string().len());
        let mut calls: Vec<_> =
            examples.into_iter().map(|example| call(example.summary, &path, Some(example.value))).collect();
        if calls.is_empty() {
            calls.push(call(operation.summary, &path, None));
        }
        if !operation.query_parameters.is_empty() {
            let body = calls.first().and_then(|first| first.body.clone());
            calls.push(call("With all parameters", &format!("{path}?{}", query(operation.query_parameters)), body));
        }
        calls
    }

    /// Returns code that sends the request and prints the response. The base URL is a placeholder for
    /// [`crate::BaseUrl::fill`].
    pub fn code(&self, language: Language) -> String {
        match language {
            Language::Curl => curl::code(self),
            Language::Python => python::code(self),
            Language::JavaScript => javascript::code(self),
        }
    }
}

fn filled(template: &str, parameters: &[Parameter]) -> String {
    parameters.iter().fold(template.to_owned(), |path, parameter| {
        path.replace(&format!("{{{}}}", parameter.name), &encoded(parameter.example))
    })
}

fn query(parameters: &[Parameter]) -> String {
    let pairs: Vec<_> =
        parameters.iter().map(|parameter| format!("{}={}", parameter.name, encoded(parameter.example))).collect();
    pairs.join("&")
}

/// Percent-encodes a value for a path segment or a query. Colons and commas stay readable.
fn encoded(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:,".contains(&byte);
    value.bytes().fold(String::new(), |mut text, byte| {
        match is_plain(byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
        text
    })
}

/// Indents all lines but the first.
fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{:by$}", ""))
}
