//! Content negotiation (RFC 9110, 12.5).

use actix_web::http::header::{ACCEPT, HeaderMap, HeaderName};

/// Returns the items of a header with their weights (RFC 9110, 12.4.2).
pub(crate) fn weighted_items(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (&str, f32)> {
    let values = headers.get_all(name).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        (name, parts.find_map(weight).unwrap_or(1.0))
    })
}

/// Returns the weight that a parameter states. The name is case-insensitive, as those of all parameters (RFC 9110, 5.6.6).
fn weight(parameter: &str) -> Option<f32> {
    let (name, value) = parameter.split_once('=')?;
    if name.eq_ignore_ascii_case("q") { value.trim().parse().ok() } else { None }
}

/// True if the client names HTML and prefers it to JSON, as browsers do.
pub(crate) fn prefers_html(headers: &HeaderMap) -> bool {
    let (mut html, mut json) = (0.0_f32, 0.0_f32);
    for (media_type, weight) in weighted_items(headers, ACCEPT) {
        match media_type.to_ascii_lowercase().as_str() {
            "text/html" | "application/xhtml+xml" => html = html.max(weight),
            "application/json" => json = json.max(weight),
            _ => {}
        }
    }
    html > 0.0 && html >= json
}

#[cfg(test)]
mod tests {
    use super::prefers_html;
    use actix_web::http::header::{ACCEPT, HeaderMap, HeaderValue};

    fn check(value: &'static str, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(value));
        assert_eq!(prefers_html(&headers), expected, "{value}");
    }

    #[test]
    fn browsers_prefer_html() {
        assert!(!prefers_html(&HeaderMap::new()));
        check("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true);
        check("Text/HTML;q=0.5", true);
        check("*/*", false);
        check("application/json", false);
        check("application/json, text/html;q=0.5", false);
        check("text/html;q=0, */*", false);
        check("text/html;Q=0", false);
        check("text/html; charset=utf-8; Q=0.5, application/json;q=0.6", false);
        check("text/plain, text/markdown", false);
        check("", false);
    }
}
