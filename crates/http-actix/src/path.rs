//! Path parameters.

use actix_web::HttpRequest;
use openapi::Parameter;
use percent_encoding::percent_decode_str;

use crate::failure::Failure;

/// Returns the percent-decoded values of the placeholders of `template`, in order.
///
/// They come from the raw path: the router decodes some characters and leaves others, so that a second decoding would
/// misread `%2525`.
pub(crate) fn values(request: &HttpRequest, template: &str, parameters: &[Parameter]) -> Result<Vec<String>, Failure> {
    let raw = template.split('/').zip(request.uri().path().split('/'));
    let raw = raw.filter(|(part, _)| part.starts_with('{')).map(|(_, segment)| segment);
    parameters.iter().zip(raw).map(|(parameter, segment)| decode(parameter.name, segment)).collect()
}

fn decode(field: &str, segment: &str) -> Result<String, Failure> {
    let invalid = |_| Failure::invalid(field, format!("{field} must be percent-encoded UTF-8"));
    percent_decode_str(segment).decode_utf8().map(|text| text.into_owned()).map_err(invalid)
}
