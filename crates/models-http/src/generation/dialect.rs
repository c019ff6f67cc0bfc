//! Forms of requests, which differ between endpoints.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use models::generation::GenerationRequest;
use serde_json::{Value, json};

use crate::endpoint::Reply;

/// Forms that the endpoint accepted so far.
#[derive(Default)]
pub struct Dialect {
    /// A schema was accepted once. A later rejection is then due to that schema, and not remembered.
    accepts_schemas: AtomicBool,
    /// Form for answers with a schema: a value of `Output`.
    output: AtomicU8,
    completion_limit: AtomicBool,
}

/// Support for structured output, the best form first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Output {
    Schema = 0,
    Object = 1,
    /// The prompt alone asks for JSON.
    Prompt = 2,
}

/// Form of one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attempt {
    /// `None` for an answer without a schema.
    output: Option<Output>,
    /// Names the limit `max_completion_tokens` instead of `max_tokens`.
    completion_limit: bool,
    /// The other name of the limit was rejected.
    limit_renamed: bool,
}

impl Dialect {
    /// Returns the form to begin with.
    pub fn first(&self, has_schema: bool) -> Attempt {
        let output = match self.output.load(Ordering::Relaxed) {
            0 => Output::Schema,
            1 => Output::Object,
            _ => Output::Prompt,
        };
        Attempt {
            output: has_schema.then_some(output),
            completion_limit: self.completion_limit.load(Ordering::Relaxed),
            limit_renamed: false,
        }
    }

    /// Remembers an accepted form. A simpler one counts only if the rejected schema is the service's own: with a schema
    /// that is rejected everywhere, a caller would disable structured output for all others.
    pub fn accepted(&self, attempt: Attempt, is_own_schema: bool) {
        self.completion_limit.store(attempt.completion_limit, Ordering::Relaxed);
        match attempt.output {
            None => {}
            Some(Output::Schema) => self.accepts_schemas.store(true, Ordering::Relaxed),
            Some(simpler) if is_own_schema && !self.accepts_schemas.load(Ordering::Relaxed) => {
                self.output.store(simpler as u8, Ordering::Relaxed);
            }
            Some(_) => {}
        }
    }
}

impl Attempt {
    /// Returns the form to try after a rejection; `None` if the form is not at fault.
    pub fn after(self, reply: &Reply) -> Option<Self> {
        if !matches!(reply.status, 400 | 422) {
            return None;
        }
        let message = String::from_utf8_lossy(&reply.body).to_ascii_lowercase();
        // The prompt is too long in every form. The message names the limit of tokens, too.
        if message.contains("context length") || message.contains("context_length") || message.contains("context size")
        {
            return None;
        }
        let names_limit = message.contains("max_tokens") || message.contains("max_completion_tokens");
        if names_limit && !self.limit_renamed {
            return Some(Self { completion_limit: !self.completion_limit, limit_renamed: true, ..self });
        }
        let simpler = match self.output? {
            Output::Schema => Output::Object,
            Output::Object => Output::Prompt,
            Output::Prompt => return None,
        };
        Some(Self { output: Some(simpler), ..self })
    }

    pub fn body(self, model: &str, request: &GenerationRequest, limit: u32) -> Vec<u8> {
        let schema = request.schema.as_ref();
        let mut system = request.system.clone();
        if let Some(schema) = schema.filter(|_| self.output != Some(Output::Schema)) {
            if !system.is_empty() {
                system.push_str("\n\n");
            }
            system.push_str(&format!(
                "Answer with one JSON object, and nothing else, that matches this JSON Schema:\n{schema}"
            ));
        }
        let mut messages = Vec::new();
        if !system.is_empty() {
            messages.push(json!({"role": "system", "content": system}));
        }
        messages.push(json!({"role": "user", "content": request.user}));
        let mut body = json!({"messages": messages, "stream": false});
        if !model.is_empty() {
            body["model"] = model.into();
        }
        body[if self.completion_limit { "max_completion_tokens" } else { "max_tokens" }] = limit.into();
        match (self.output, schema) {
            (Some(Output::Schema), Some(schema)) => body["response_format"] = structured(schema),
            (Some(Output::Object), _) => body["response_format"] = json!({"type": "json_object"}),
            (Some(Output::Schema | Output::Prompt) | None, _) => {}
        }
        body.to_string().into_bytes()
    }
}

fn structured(schema: &Value) -> Value {
    json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(message: &str) -> Reply {
        Reply { status: 400, retry_after: None, body: message.as_bytes().to_vec() }
    }

    #[test]
    fn forms_get_simpler_with_each_rejection() {
        let dialect = Dialect::default();
        let first = dialect.first(true);
        let second = first.after(&rejected("")).expect("another form");
        let third = second.after(&rejected("response_format is not supported")).expect("another form");
        let outputs = [first, second, third].map(|attempt| attempt.output);
        assert_eq!(outputs, [Some(Output::Schema), Some(Output::Object), Some(Output::Prompt)]);
        assert_eq!(third.after(&rejected("")), None);
        assert_eq!(dialect.first(false).after(&rejected("")), None);
        assert_eq!(first.after(&Reply { status: 401, ..rejected("") }), None);
        assert_eq!(first.after(&rejected("maximum context length is 4096; max_tokens is too large")), None);
    }

    #[test]
    fn other_name_of_the_limit_is_tried_once() {
        let hint = rejected("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
        let dialect = Dialect::default();
        let renamed = dialect.first(false).after(&hint).expect("another form");
        assert!(renamed.completion_limit);
        assert_eq!(renamed.after(&hint), None);
        dialect.accepted(renamed, false);
        assert!(dialect.first(false).completion_limit);
    }

    #[test]
    fn schema_that_one_caller_chose_does_not_change_the_dialect() {
        let dialect = Dialect::default();
        let best = dialect.first(true);
        let simpler = best.after(&rejected("invalid schema")).expect("another form");
        dialect.accepted(simpler, false);
        assert_eq!(dialect.first(true), best, "no schema was accepted before");
        dialect.accepted(best, false);
        dialect.accepted(simpler, true);
        assert_eq!(dialect.first(true), best);
    }

    #[test]
    fn simpler_form_is_remembered_for_an_own_schema() {
        let dialect = Dialect::default();
        let simpler = dialect.first(true).after(&rejected("no schemas")).expect("another form");
        dialect.accepted(simpler, true);
        assert_eq!(dialect.first(true), simpler);
    }
}
