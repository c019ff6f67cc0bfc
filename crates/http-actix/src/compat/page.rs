use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use compat::reader;
use model::Scope;
use uuid::Uuid;

use super::{CHALLENGE, credential, read};
use crate::State;
use crate::call::Call;
use crate::failure::Failure;
use crate::pipeline::{self, Foreign, Route};
use crate::reply::{Refusals, Reply};

/// Path before the URL.
const PREFIX: &str = "/read/";

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

pub(super) static READ: Foreign = Foreign {
    name: "GET /read/{url}",
    scope: Scope::DocumentRead,
    refusals: Refusals { reply: refuse, challenge: CHALLENGE },
};

/// `GET /read/{url}`: a page as markdown.
pub(super) async fn get(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let token = credential::from_headers(request.headers(), "");
    pipeline::answer_to(token, Route::Foreign(&READ), request, payload, run).await
}

async fn run(call: Call) -> Result<Reply, Failure> {
    // The router decodes some characters, so the raw path is needed.
    let path = call.request.uri().path().strip_prefix(PREFIX).unwrap_or_default();
    let url = reader::target(path, call.request.query_string())?;
    let memory = call.context.gather();
    let document = read::one(&call.context, reader::read(&url), &memory).await?;
    Ok(match reader::markdown(Ok(document)) {
        Ok(text) => {
            let body = memory.into_answer(text.into_bytes()).await?;
            Reply::text(StatusCode::OK, MARKDOWN, body)
        }
        Err(failure) => plain(failure.kind.status(), &failure.message),
    })
}

fn refuse(_: &State, _: Uuid, failure: &Failure) -> Reply {
    plain(failure.code.status(), &failure.message)
}

fn plain(status: u16, message: &str) -> Reply {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Reply::text(status, PLAIN, format!("{message}\n").into_bytes().into())
}
