//! The published contract: the OpenAPI document and its reference page.

use std::sync::LazyLock;

use actix_web::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use actix_web::{HttpRequest, HttpResponse, web};
use openapi::reference;

use crate::State;
use crate::handlers::unmatched::without_admission;
use crate::query::refuse_unknown_parameters;
use crate::static_file::StaticFile;

/// Built at the first request, since most servers never receive one.
static OPENAPI: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::new("application/json", format!("{:#}\n", openapi::document())));

static DOCS: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::new("text/html; charset=utf-8", reference::page(&openapi::document())));

/// `GET /openapi/public.json`, without authentication.
pub(crate) async fn openapi(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    if let Err(failure) = refuse_unknown_parameters(&request, |_| false) {
        return without_admission(&request, &state, Err(failure)).await;
    }
    OPENAPI.answer(&request).await
}

/// `GET /docs`, without authentication. Query parameters are ignored.
pub(crate) async fn docs(request: HttpRequest) -> HttpResponse {
    DOCS.answer_with(&request, |response| {
        response
            .insert_header((CONTENT_SECURITY_POLICY, reference::CONTENT_SECURITY_POLICY))
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((REFERRER_POLICY, "no-referrer"));
    })
    .await
}
