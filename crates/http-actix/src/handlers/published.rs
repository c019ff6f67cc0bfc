//! The published contract: the OpenAPI document, its reference page, `llms.txt`, and the way to them.

use std::sync::LazyLock;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, web};
use app::web_index::filling::{PROGRAM, WAYS};
use openapi::{llms, reference};
use serde_json::json;

use crate::State;
use crate::accept::prefers_html;
use crate::exchange::Exchange;
use crate::handlers::unmatched::without_admission;
use crate::query::refuse_unknown_parameters;
use crate::reply::{Reply, respond};
use crate::static_file::StaticFile;

/// Time that the reference page waits for the state of the web index.
const NOTICE_TIMEOUT: Duration = Duration::from_millis(300);

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";

/// The reference page without a base URL.
static DOCS: LazyLock<String> = LazyLock::new(|| reference::page(&openapi::document()));

/// The reference page with the commands that fill the web index.
static DOCS_OF_EMPTY_INDEX: LazyLock<String> = LazyLock::new(|| {
    let ways = WAYS.iter().map(|way| (way.purpose, way.command(PROGRAM)));
    reference::with_empty_web_index(&DOCS, ways)
});

static STYLE: LazyLock<StaticFile> = LazyLock::new(|| StaticFile::new("text/css; charset=utf-8", reference::STYLE));

static SCRIPT: LazyLock<StaticFile> =
    LazyLock::new(|| StaticFile::new("text/javascript; charset=utf-8", reference::SCRIPT));

/// `GET /`, without authentication: the reference for browsers, links for programs.
pub(crate) async fn root(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let (request_id, base) = (Exchange::of(&request).request_id, state.published.for_request(&request));
    if prefers_html(request.headers()) {
        // A proxy may serve the API below a path.
        let docs = format!("{}/docs", base.path());
        let mut response = HttpResponse::Found();
        response.insert_header((LOCATION, docs)).insert_header((VARY, ACCEPT.as_str()));
        return response.insert_header(("X-Request-ID", request_id.to_string())).finish();
    }
    let url = base.as_str();
    let links = json!({
        "name": "Retrieval API",
        "docs": format!("{url}/docs"),
        "console": format!("{url}/console/"),
        "openapi": format!("{url}/openapi/public.json"),
        "llms": format!("{url}/llms.txt"),
        "mcp": format!("{url}/mcp"),
        "request_id": request_id,
    });
    let mut response = respond(&state, &request, request_id, "GET /", Reply::json(StatusCode::OK, &links), None).await;
    response.headers_mut().append(VARY, ACCEPT.into());
    response
}

/// `GET /openapi/public.json` and `GET /openapi.json`, without authentication.
pub(crate) async fn openapi(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    if let Err(failure) = refuse_unknown_parameters(&request, |_| false) {
        return without_admission(&request, &state, Err(failure)).await;
    }
    let document = || format!("{:#}\n", openapi::document_below(state.published.path()));
    state.openapi.get_or_init(|| StaticFile::new("application/json", document())).answer(&request).await
}

/// `GET /docs`, without authentication. Query parameters are ignored.
pub(crate) async fn docs(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let base = state.published.for_request(&request);
    let is_empty = is_web_empty(&state).await;
    let source = if is_empty { &DOCS_OF_EMPTY_INDEX } else { &DOCS };
    let page = || StaticFile::new(HTML, base.fill(source));
    let headers = |response: &mut HttpResponseBuilder| {
        protect(response);
        if is_empty {
            // The notice must not outlast the empty index.
            response.insert_header((CACHE_CONTROL, "no-cache"));
        }
    };
    if state.published.is_configured(&base) {
        let kept = if is_empty { &state.docs_of_empty_index } else { &state.docs };
        return kept.get_or_init(page).answer_with(&request, headers).await;
    }
    page().answer_with(&request, headers).await
}

/// Returns true if searches of the web can find nothing. The page does not wait for a slow database.
async fn is_web_empty(state: &State) -> bool {
    if state.app.has_web_providers() {
        return false;
    }
    match tokio::time::timeout(NOTICE_TIMEOUT, state.app.web_state()).await {
        Ok(Ok(web)) => web.index_is_empty,
        Ok(Err(_)) | Err(_) => false,
    }
}

fn protect(response: &mut HttpResponseBuilder) {
    response
        .insert_header((CONTENT_SECURITY_POLICY, reference::CONTENT_SECURITY_POLICY))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"));
}

/// `GET /docs/reference.css`.
pub(crate) async fn style(request: HttpRequest) -> HttpResponse {
    STYLE.answer_with(&request, protect).await
}

/// `GET /docs/reference.js`.
pub(crate) async fn script(request: HttpRequest) -> HttpResponse {
    SCRIPT.answer_with(&request, protect).await
}

/// `GET /llms.txt`, without authentication.
pub(crate) async fn llms(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let skills = state.skills.iter().flat_map(|files| &files.published.skills);
    let skills = skills.map(|skill| (skill.name.as_str(), skill.description.as_str()));
    let text = llms::text(&state.published.for_request(&request), skills);
    StaticFile::new(MARKDOWN, text).answer(&request).await
}
