use std::io::Write;

use actix_web::http::header::{ACCEPT_ENCODING, HeaderMap};
use actix_web::{HttpRequest, web};
use app::App;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use model::OrganizationId;

use crate::accept::weighted_items;
use crate::exchange::Exchange;

/// Minimum size: below it gzip saves less than its headers cost.
const SMALLEST: usize = 1024;

/// Size from which compression takes over half a millisecond and leaves the thread that serves connections.
const LARGE: usize = 64 << 10;

/// Bytes that are compressed at a time: about 5 ms, after which others have their turn.
const STEP: usize = 512 << 10;

/// Compresses the body if the client accepts gzip and the body is large enough.
pub(crate) async fn gzip_if_asked(request: &HttpRequest, body: &Bytes) -> Option<Vec<u8>> {
    if !is_asked(request, body) {
        return None;
    }
    if body.len() < LARGE {
        return compress(encoder(body), body)?.finish().ok();
    }
    let app = request.app_data::<web::Data<App>>()?;
    let organization = Exchange::of(request).organization().unwrap_or(OrganizationId::NOBODY);
    gzip_in_turns(app, organization, body).await
}

/// Returns true if the client accepts gzip and the body is large enough.
pub(crate) fn is_asked(request: &HttpRequest, body: &Bytes) -> bool {
    body.len() >= SMALLEST && accepts_gzip(request.headers())
}

type Encoder = GzEncoder<Vec<u8>>;

async fn gzip_in_turns(app: &App, organization: OrganizationId, body: &Bytes) -> Option<Vec<u8>> {
    let mut encoder = encoder(body);
    for start in (0..body.len()).step_by(STEP) {
        let step = body.slice(start..body.len().min(start + STEP));
        let compressed = app.compute_for(organization, body.len(), move || compress(encoder, &step)).await;
        encoder = compressed.ok()??;
    }
    encoder.finish().ok()
}

fn encoder(body: &[u8]) -> Encoder {
    // The fastest level shrinks text to about a third, at several times the speed of the default level.
    GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::fast())
}

fn compress(mut encoder: Encoder, step: &[u8]) -> Option<Encoder> {
    encoder.write_all(step).ok()?;
    Some(encoder)
}

/// True for `gzip`, or `*` if gzip is not named, with a weight above 0 (RFC 9110, 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let mut any = false;
    for (coding, weight) in weighted_items(headers, ACCEPT_ENCODING) {
        let is_accepted = weight > 0.0;
        if coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip") {
            return is_accepted;
        }
        any |= coding == "*" && is_accepted;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::accepts_gzip;
    use actix_web::http::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};

    fn check(value: &'static str, expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
        assert_eq!(accepts_gzip(&headers), expected, "{value}");
    }

    #[test]
    fn gzip_requires_acceptance() {
        assert!(!accepts_gzip(&HeaderMap::new()));
        check("gzip, deflate, br", true);
        check("deflate, GZIP;q=0.1", true);
        check("*", true);
        check("gzip;q=0, *", false);
        check("*;q=0", false);
        check("br, identity", false);
        check("gzip;q=0.000", false);
        check("gzip;Q=0", false);
        check("gzip; Q=0.5", true);
        check("", false);
    }
}
