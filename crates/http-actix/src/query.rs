//! Query parameters.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use actix_web::HttpRequest;
use percent_encoding::percent_decode_str;

use crate::failure::Failure;

/// Longest echo of an unknown parameter's name, in characters.
const MAX_NAME_ECHO: usize = 100;

/// Refuses the first query parameter that is not known.
pub(crate) fn refuse_unknown_parameters(request: &HttpRequest, is_known: impl Fn(&str) -> bool) -> Result<(), Failure> {
    for pair in request.query_string().split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split('=').next().unwrap_or_default();
        let name = percent_decode_str(name).decode_utf8_lossy();
        if !is_known(&name) {
            let message = format!("unknown query parameter `{name}`");
            let field: String = name.chars().take(MAX_NAME_ECHO).collect();
            return Err(Failure::malformed(message.clone(), message).with("field", field));
        }
    }
    Ok(())
}

/// The parameters of a request. Empty values count as absent.
pub(crate) struct Query(HashMap<String, String>);

impl Query {
    /// Parses a query string. `+` is not decoded to a blank: in a time it is the sign of the offset.
    pub fn parse(query: &str) -> Result<Self, Failure> {
        let mut parameters = HashMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = percent_decode_str(name).decode_utf8_lossy().into_owned();
            let value = percent_decode_str(value)
                .decode_utf8()
                .map_err(|_| Failure::invalid(&name, format!("{name} must be percent-encoded UTF-8")))?
                .into_owned();
            if parameters.insert(name.clone(), value).is_some() {
                return Err(Failure::invalid(&name, format!("{name} must be sent once")));
            }
        }
        parameters.retain(|_, value| !value.is_empty());
        Ok(Self(parameters))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// Reads a number of the query string within a range.
pub(crate) fn number(
    field: &str,
    text: Option<String>,
    default: i64,
    range: RangeInclusive<i64>,
) -> Result<i64, Failure> {
    let Some(text) = text else { return Ok(default) };
    text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        let must =
            if *most == i64::MAX { format!("of at least {least}") } else { format!("between {least} and {most}") };
        Failure::invalid(field, format!("{field} must be a number {must}"))
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn parameters_are_known_by_their_decoded_names() {
        let is_accepted = |query: &str| {
            let request = TestRequest::with_uri(&format!("/?{query}")).to_http_request();
            refuse_unknown_parameters(&request, |name| name == "group_by").is_ok()
        };
        for query in ["group_by=day", "group%5Fby=day", "%67roup_by"] {
            assert!(is_accepted(query), "{query}");
        }
        for query in ["group%255Fby=day", "group_by%3D=day", "%ff"] {
            assert!(!is_accepted(query), "{query}");
        }
    }

    #[test]
    fn values_are_decoded_and_empty_ones_are_absent() {
        let query = Query::parse("a=1%2C2&b=&c&d=2026-01-05T10:00:00+01:00&").map_err(|_| ()).unwrap();
        assert_eq!((query.get("a"), query.get("b"), query.get("c")), (Some("1,2"), None, None));
        assert_eq!(query.get("d"), Some("2026-01-05T10:00:00+01:00"));
        assert!(Query::parse("a=%ff").is_err() && Query::parse("a=1&a=2").is_err());
    }
}
