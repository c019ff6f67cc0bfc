//! The console: static files below `/console/`, without authentication.

use std::collections::HashMap;
use std::sync::LazyLock;

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::ErrorCode;

use crate::State;
use crate::failure::Failure;
use crate::handlers::unmatched::without_admission;
use crate::static_file::StaticFile;

static FILES: LazyLock<HashMap<&'static str, StaticFile>> = LazyLock::new(|| {
    console::files().map(|file| (file.path, StaticFile::new(file.media_type, file.text.into_owned()))).collect()
});

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The page for the address without a trailing slash.
static PAGE: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::new("text/html; charset=utf-8", console::page("console/")));

/// `GET /console`.
pub(crate) async fn page(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    answer(&PAGE, &request, &state).await
}

/// `GET /console/{file}`. Query parameters are ignored.
pub(crate) async fn file(request: HttpRequest, state: web::Data<State>, path: web::Path<String>) -> HttpResponse {
    let name = if path.is_empty() { console::INDEX } else { path.as_str() };
    let Some(file) = FILES.get(name) else {
        let failure = Failure::new(ErrorCode::NotFound, "no such path");
        return without_admission(&request, &state, Err(failure)).await;
    };
    answer(file, &request, &state).await
}

async fn answer(file: &StaticFile, request: &HttpRequest, state: &State) -> HttpResponse {
    let policy = console::content_security_policy(state.app.upload_origin().as_deref());
    file.answer_with(request, |response| {
        response
            // Modules of two versions must not meet after an upgrade of the server.
            .insert_header((CACHE_CONTROL, "no-cache"))
            .insert_header((CONTENT_SECURITY_POLICY, policy))
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((REFERRER_POLICY, "no-referrer"))
            .insert_header((OPENER_POLICY, "same-origin"));
    })
    .await
}
