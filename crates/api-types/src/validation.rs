//! Rules beyond types, and their violations as field paths.

use std::borrow::Cow;
use std::collections::BTreeMap;

use uuid::Uuid;
use validator::{Validate, ValidationError, ValidationErrors, ValidationErrorsKind};

/// Longest query text, in characters.
pub const MAX_QUERY_CHARS: usize = 8192;

/// Maximum number of query rewrites.
pub const MAX_SEARCH_QUERIES: usize = 16;

/// Maximum number of domains in a list of a source policy.
pub const MAX_DOMAINS: usize = 1000;

/// Maximum number of passages in one selection.
pub const MAX_PASSAGE_IDS: usize = 1000;

/// Maximum number of documents in one request.
pub const MAX_DOCUMENTS: usize = 20;

/// Maximum number of citations in one request.
pub const MAX_CITATIONS: usize = 50;

/// Longest time limit of a request, in milliseconds.
pub const MAX_TIMEOUT_MS: i64 = 60_000;

/// Largest maximum number of passages of one document.
pub const MAX_PASSAGES: i64 = 1000;
/// Maximum number of labels of a file, and of a filter.
pub const MAX_LABELS: usize = 20;

/// Maximum length of a label, in characters.
pub const MAX_LABEL_CHARS: usize = 64;

/// Maximum number of URLs of a crawl, and of a refresh.
pub const MAX_URLS: usize = 100;

/// Maximum number of patterns of a crawl, in each list.
pub const MAX_PATTERNS: usize = 100;

/// Maximum number of labels of a research run.
pub const MAX_METADATA: usize = 16;

/// Maximum length of the key of such a label, in characters.
pub const MAX_METADATA_KEY_CHARS: usize = 64;

/// Maximum length of its value, in characters.
pub const MAX_METADATA_VALUE_CHARS: usize = 512;

/// Maximum number of entries in a list of words, such as sections or indexes. Repetitions count.
pub const MAX_WORDS: usize = 16;

/// A violated rule of a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// Dotted path with indexes: `content.range.max_chars`, `search_queries[1]`.
    pub field: String,
    /// A sentence that starts with the field: `session_id must be a UUID`.
    pub message: String,
}

/// Returns the first violation in the order of field paths.
pub fn first_violation(request: &impl Validate) -> Option<Violation> {
    let errors = request.validate().err()?;
    let mut violations = Vec::new();
    collect(&errors, "", &mut violations);
    // validator keeps errors in a hash map; sorting makes the result deterministic.
    violations.sort_by(|a, b| a.field.cmp(&b.field));
    violations.into_iter().next()
}

/// Parses a UUID in the hyphenated form of RFC 9562, in either case. Refuses braced, URN and bare hexadecimal forms, since
/// the interface promises `format: uuid`.
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    if text.len() != 36 { None } else { Uuid::try_parse(text).ok() }
}

/// Returns the path of the field that caused a parser's error, from the error's path (`.` for the root) and message.
///
/// serde names a missing field in its message only; the path is that of the incomplete object.
pub fn field_of(path: &str, message: &str) -> Option<String> {
    let parent = if path == "." { "" } else { path };
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    let field = match (parent.is_empty(), missing) {
        (true, Some(name)) => name.to_owned(),
        (false, Some(name)) => format!("{parent}.{name}"),
        (false, None) => parent.to_owned(),
        (true, None) => return None,
    };
    // The caller chooses the name of an unknown field, so its length is bounded here.
    Some(field.chars().take(200).collect())
}

pub(crate) fn uuid_text(text: &str) -> Result<(), ValidationError> {
    if parse_uuid(text).is_some() { Ok(()) } else { Err(ValidationError::new("uuid")) }
}

/// Checks the number of domains.
pub(crate) fn domains(domains: &[String]) -> Result<(), ValidationError> {
    at_most(MAX_DOMAINS, domains.len())
}

/// Checks the number of passage ids.
pub(crate) fn passage_ids(ids: &[String]) -> Result<(), ValidationError> {
    at_most(MAX_PASSAGE_IDS, ids.len())
}

/// Checks the number of words of a closed list.
pub(crate) fn words<T>(words: &[T]) -> Result<(), ValidationError> {
    at_most(MAX_WORDS, words.len())
}

/// Checks the number of documents of a request: at least one.
pub(crate) fn documents<T>(documents: &[T]) -> Result<(), ValidationError> {
    from_one_to(MAX_DOCUMENTS, documents.len())
}

/// Checks the number of citations of a request: at least one.
pub(crate) fn citations<T>(citations: &[T]) -> Result<(), ValidationError> {
    from_one_to(MAX_CITATIONS, citations.len())
}

/// Checks the number of URLs of a refresh: at least one.
pub(crate) fn urls(urls: &[String]) -> Result<(), ValidationError> {
    from_one_to(MAX_URLS, urls.len())
}

fn from_one_to(max: usize, count: usize) -> Result<(), ValidationError> {
    if count == 0 { Err(ValidationError::new("empty")) } else { at_most(max, count) }
}

/// Checks the number of labels, and their lengths.
pub(crate) fn labels(labels: &[String]) -> Result<(), ValidationError> {
    at_most(MAX_LABELS, labels.len())?;
    match labels.iter().position(|label| label.is_empty() || label.chars().count() > MAX_LABEL_CHARS) {
        None => Ok(()),
        Some(index) => {
            let mut error = ValidationError::new("length");
            error.add_param(Cow::from("index"), &index);
            error.add_param(Cow::from("min"), &1);
            error.add_param(Cow::from("max"), &MAX_LABEL_CHARS);
            Err(error)
        }
    }
}

/// Checks the number of words of a closed list: at least one.
pub(crate) fn some_words<T>(words: &[T]) -> Result<(), ValidationError> {
    if words.is_empty() {
        return Err(ValidationError::new("empty"));
    }
    at_most(MAX_WORDS, words.len())
}

/// Checks the number of labels of a research run, and the lengths of their keys and values.
pub(crate) fn metadata(metadata: &BTreeMap<String, String>) -> Result<(), ValidationError> {
    at_most(MAX_METADATA, metadata.len())?;
    let fits = |(key, value): (&String, &String)| {
        (1..=MAX_METADATA_KEY_CHARS).contains(&key.chars().count())
            && value.chars().count() <= MAX_METADATA_VALUE_CHARS
            && !key.contains('\0')
            && !value.contains('\0')
    };
    if metadata.iter().all(fits) { Ok(()) } else { Err(ValidationError::new("metadata")) }
}

fn at_most(max: usize, count: usize) -> Result<(), ValidationError> {
    if count <= max {
        return Ok(());
    }
    let mut error = ValidationError::new("items");
    error.add_param(Cow::from("max"), &max);
    error.add_param(Cow::from("count"), &count);
    Err(error)
}

/// Checks the number of query rewrites, and their lengths, which have the limit of queries.
pub(crate) fn query_texts(texts: &[String]) -> Result<(), ValidationError> {
    at_most(MAX_SEARCH_QUERIES, texts.len())?;
    match texts.iter().position(|text| text.chars().count() > MAX_QUERY_CHARS) {
        None => Ok(()),
        Some(index) => {
            let mut error = ValidationError::new("length");
            error.add_param(Cow::from("index"), &index);
            error.add_param(Cow::from("max"), &MAX_QUERY_CHARS);
            Err(error)
        }
    }
}

fn collect(errors: &ValidationErrors, parent: &str, out: &mut Vec<Violation>) {
    for (name, kind) in errors.errors() {
        let path = match (name.as_ref(), parent.is_empty()) {
            // A rule of the object itself.
            ("__all__", _) => parent.to_owned(),
            (name, true) => name.to_owned(),
            (name, false) => format!("{parent}.{name}"),
        };
        match kind {
            ValidationErrorsKind::Struct(inner) => collect(inner, &path, out),
            ValidationErrorsKind::List(items) => {
                for (index, inner) in items {
                    collect(inner, &format!("{path}[{index}]"), out);
                }
            }
            ValidationErrorsKind::Field(broken) => {
                for error in broken {
                    let field = match error.params.get("index") {
                        Some(index) => format!("{path}[{index}]"),
                        None => path.clone(),
                    };
                    out.push(Violation { message: format!("{field} {}", rule(error)), field });
                }
            }
        }
    }
}

/// Describes the required value, as the end of a sentence.
fn rule(error: &ValidationError) -> String {
    let bound = |name: &str| error.params.get(name);
    match error.code.as_ref() {
        "uuid" => "must be a UUID".to_owned(),
        "range" => match (bound("min"), bound("max")) {
            (Some(min), Some(max)) => format!("must be between {min} and {max}"),
            (Some(min), None) => format!("must be at least {min}"),
            (None, Some(max)) => format!("must be at most {max}"),
            (None, None) => "is out of range".to_owned(),
        },
        "length" => match (bound("min"), bound("max")) {
            (Some(min), Some(max)) => format!("must have {min} to {max} characters"),
            (Some(min), None) => format!("must have at least {min} characters"),
            (None, Some(max)) => format!("must have at most {max} characters"),
            (None, None) => "has a length that is not allowed".to_owned(),
        },
        "items" => match (bound("max"), bound("count")) {
            (Some(max), Some(count)) => format!("must have at most {max} items, not {count}"),
            _ => "has too many items".to_owned(),
        },
        "empty" => "must have at least 1 item, not 0".to_owned(),
        "metadata" => format!(
            "must have keys of 1 to {MAX_METADATA_KEY_CHARS} characters and values of at most {MAX_METADATA_VALUE_CHARS}, without NUL"
        ),
        "target" => "must have a doc_id or a canonical_url".to_owned(),
        _ => "is not valid".to_owned(),
    }
}
