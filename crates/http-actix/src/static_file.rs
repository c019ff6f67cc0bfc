//! Public static files: descriptions and pages that change only with the program.

use std::sync::OnceLock;

use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, EntityTag, Header, IfNoneMatch,
    VARY,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use uuid::Uuid;

use crate::compression::{gzip_if_asked, is_asked};
use crate::exchange::Exchange;
use crate::memory::SentInChunks;

/// A static body with its media type and entity tag.
pub(crate) struct StaticFile {
    content_type: &'static str,
    etag: EntityTag,
    body: Bytes,
    /// The compressed body, once a client has asked for it.
    compressed: OnceLock<Bytes>,
}

impl StaticFile {
    pub fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        // Weak (RFC 9110, 8.8.1), because the compressed body has the same tag.
        let etag = EntityTag::new_weak(Uuid::new_v5(&Uuid::NAMESPACE_OID, &body).simple().to_string());
        StaticFile { content_type, etag, body, compressed: OnceLock::new() }
    }

    /// Returns the file, or 304 if the client's copy is current.
    pub async fn answer(&self, request: &HttpRequest) -> HttpResponse {
        self.answer_with(request, |_| {}).await
    }

    /// Returns the file with additional headers, or 304 if the client's copy is current.
    pub async fn answer_with(
        &self,
        request: &HttpRequest,
        headers: impl FnOnce(&mut HttpResponseBuilder),
    ) -> HttpResponse {
        let known = match IfNoneMatch::parse(request) {
            Ok(IfNoneMatch::Any) => request.headers().contains_key(actix_web::http::header::IF_NONE_MATCH),
            Ok(IfNoneMatch::Items(tags)) => tags.iter().any(|tag| tag.weak_eq(&self.etag)),
            Err(_) => false,
        };
        let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
        response
            .insert_header((CACHE_CONTROL, "public, max-age=3600"))
            .insert_header((ETAG, self.etag.to_string()))
            .insert_header((VARY, "Accept-Encoding"))
            // Public and equal for all callers, so tools in browsers may read it.
            .insert_header((ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
            .insert_header(("X-Request-ID", Exchange::of(request).request_id.to_string()));
        headers(&mut response);
        if known {
            return response.finish();
        }
        response.insert_header((CONTENT_TYPE, self.content_type));
        let body = match self.compressed(request).await {
            Some(compressed) => {
                response.insert_header((CONTENT_ENCODING, "gzip"));
                compressed
            }
            None => self.body.clone(),
        };
        response.body(SentInChunks::new(body, None))
    }

    /// Returns the compressed body for a client that asks for it. It is compressed once: nobody needs a credential to ask.
    async fn compressed(&self, request: &HttpRequest) -> Option<Bytes> {
        match self.compressed.get() {
            Some(compressed) => is_asked(request, &self.body).then(|| compressed.clone()),
            None => {
                let compressed = Bytes::from(gzip_if_asked(request, &self.body).await?);
                Some(self.compressed.get_or_init(|| compressed).clone())
            }
        }
    }
}
