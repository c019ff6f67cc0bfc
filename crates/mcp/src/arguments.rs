//! Conversion of tool arguments to requests.

use api_types::validation::{field_of, first_violation};
use serde::de::DeserializeOwned;
use serde_json::Value;
use validator::Validate;

use crate::Failure;

/// Longest echo of a caller's text, in characters.
const MAX_ECHO: usize = 500;

/// Reads arguments as strictly as the API reads bodies, with the same messages.
///
/// # Errors
/// `validation_error` with the field.
pub(crate) fn read<T: DeserializeOwned + Validate>(arguments: Value) -> Result<T, Failure> {
    let request: T = parse(arguments)?;
    check(&request)?;
    Ok(request)
}

/// Checks the rules of the fields.
pub(crate) fn check(request: &impl Validate) -> Result<(), Failure> {
    match first_violation(request) {
        None => Ok(()),
        Some(violation) => Err(Failure::invalid(violation.field, violation.message)),
    }
}

/// Reads arguments whose fields have no rules beyond their types.
pub(crate) fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T, Failure> {
    // serde accepts an array for a struct, field by field.
    if !arguments.is_object() {
        return Err(Failure::invalid("arguments", "arguments must be an object"));
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let text: String = error.inner().to_string().chars().take(MAX_ECHO).collect();
        let field = field_of(&error.path().to_string(), &text).unwrap_or_else(|| "arguments".to_owned());
        Failure::invalid(field.clone(), format!("{field}: {text}")).with("error", text)
    })
}
