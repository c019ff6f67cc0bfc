//! The rules that types cannot say, and their violations as field paths.

use std::borrow::Cow;

use uuid::Uuid;
use validator::{Validate, ValidationError, ValidationErrors, ValidationErrorsKind};

/// Longest query text, in characters.
pub const MAX_QUERY_CHARS: usize = 8192;

/// One rule that one field breaks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// Dotted path with indexes: `content.range.max_chars`, `search_queries[1]`.
    pub field: String,
    /// A sentence that starts with the field: `session_id must be a UUID`.
    pub message: String,
}

/// The first broken rule in the order of field paths, or `None` when all hold.
pub fn first_violation(request: &impl Validate) -> Option<Violation> {
    let errors = request.validate().err()?;
    let mut violations = Vec::new();
    collect(&errors, "", &mut violations);
    // validator keeps errors in a hash map; sorting makes the answer repeatable.
    violations.sort_by(|a, b| a.field.cmp(&b.field));
    violations.into_iter().next()
}

/// Reads an identifier in the hyphenated form of RFC 9562, in either case. Braced, URN and bare hexadecimal forms are
/// refused: the interface promises `format: uuid`.
pub fn parse_uuid(text: &str) -> Option<Uuid> {
    if text.len() != 36 { None } else { Uuid::try_parse(text).ok() }
}

/// The path of the field that a parser stumbled over, from the path and the message of its error; the root is `.`. serde names a missing field in its message alone, at the path of
/// the object that lacks it.
pub fn field_of(path: &str, message: &str) -> Option<String> {
    let parent = if path == "." { "" } else { path };
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    let field = match (parent.is_empty(), missing) {
        (true, Some(name)) => name.to_owned(),
        (false, Some(name)) => format!("{parent}.{name}"),
        (false, None) => parent.to_owned(),
        (true, None) => return None,
    };
    // An unknown field has the name that the caller gave it, however long.
    Some(field.chars().take(200).collect())
}

pub(crate) fn uuid_text(text: &str) -> Result<(), ValidationError> {
    if parse_uuid(text).is_some() { Ok(()) } else { Err(ValidationError::new("uuid")) }
}

/// Caller rewrites are query text and have its length limit.
pub(crate) fn query_texts(texts: &[String]) -> Result<(), ValidationError> {
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
        let path = if parent.is_empty() { name.to_string() } else { format!("{parent}.{name}") };
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

/// What the value must be, as the end of a sentence.
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
        _ => "is not valid".to_owned(),
    }
}
