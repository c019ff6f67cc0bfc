use actix_web::http::header::{ACCEPT, HeaderMap};

use crate::accept::weighted_items;

/// True if the client names event streams in `Accept`.
pub(crate) fn wants_stream(headers: &HeaderMap) -> bool {
    weighted_items(headers, ACCEPT)
        .any(|(media_type, weight)| media_type.eq_ignore_ascii_case("text/event-stream") && weight > 0.0)
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
        for value in ["*/*", "application/json", "text/event-stream;q=0", "text/event-stream;Q=0", "text/*", ""] {
            assert!(!wants(value), "{value}");
        }
    }
}
