use actix_web::http::header::{ACCEPT, HeaderMap};

/// True if the client names event streams in `Accept`.
pub(crate) fn wants_stream(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).filter_map(|value| value.to_str().ok());
    let mut items = values.flat_map(|value| value.split(','));
    items.any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_stream = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("text/event-stream"));
        let refused =
            |part: &str| part.strip_prefix("q=").is_some_and(|q| q.trim().parse().is_ok_and(|q: f32| q <= 0.0));
        is_stream && !parts.any(refused)
    })
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[test]
    fn streams_are_sent_on_request_only() {
        let wants = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(value));
            wants_stream(&headers)
        };
        assert!(!wants_stream(&HeaderMap::new()));
        for value in ["text/event-stream", "Text/Event-Stream;q=0.5", "application/json, text/event-stream"] {
            assert!(wants(value), "{value}");
        }
        for value in ["*/*", "application/json", "text/event-stream;q=0", "text/*", ""] {
            assert!(!wants(value), "{value}");
        }
    }
}
