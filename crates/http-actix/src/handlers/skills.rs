//! Skills, agents and their indexes, without authentication.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::ErrorCode;
use serde_json::{Value, json};
use skills::Text;

use crate::State;
use crate::exchange::Exchange;
use crate::failure::Failure;
use crate::handlers::unmatched::without_admission;
use crate::query::refuse_unknown_parameters;
use crate::reply::{Reply, respond};
use crate::skill_files::SkillFiles;
use crate::static_file::StaticFile;

/// `GET /skills`.
pub(crate) async fn index(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let request_id = Exchange::of(&request).request_id;
    let outcome = files_for(&request, &state).and_then(|files| {
        let entry = |skill: &Text| {
            let url = format!("{}/skills/{}/SKILL.md", files.public_url, skill.name);
            json!({"name": skill.name, "description": skill.description, "url": url})
        };
        let skills: Vec<Value> = files.published.skills.iter().map(entry).collect();
        Reply::json(StatusCode::OK, &json!({"skills": skills, "request_id": request_id}))
    });
    respond(&state, &request, request_id, "GET /skills", outcome, None).await
}

/// `GET /skills/{skill}/SKILL.md`.
pub(crate) async fn skill(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let name = request.match_info().query("skill").to_owned();
    serve(&request, &state, |files| find(&files.skills, &name)).await
}

/// `GET /skills/agents/{file}`.
pub(crate) async fn agent(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let file = request.match_info().query("file").to_owned();
    let name = file.strip_suffix(".md").unwrap_or_default().to_owned();
    serve(&request, &state, |files| find(&files.agents, &name)).await
}

/// `GET /skills/install.sh`.
pub(crate) async fn installer(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    serve(&request, &state, |files| Some(&files.installer)).await
}

/// `GET /.well-known/agent-skills/index.json`.
pub(crate) async fn discovery(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    serve(&request, &state, |files| Some(&files.discovery)).await
}

async fn serve(
    request: &HttpRequest,
    state: &State,
    choose: impl FnOnce(&SkillFiles) -> Option<&StaticFile>,
) -> HttpResponse {
    let failure = match files_for(request, state) {
        Ok(files) => match choose(files) {
            Some(file) => return file.answer(request).await,
            None => unknown(files),
        },
        Err(failure) => failure,
    };
    without_admission(request, state, Err(failure)).await
}

/// Returns the files of a deployment that serves skills. Their requests have no parameters.
fn files_for<'s>(request: &HttpRequest, state: &'s State) -> Result<&'s SkillFiles, Failure> {
    refuse_unknown_parameters(request, |_| false)?;
    state.skills.as_ref().ok_or_else(|| Failure::new(ErrorCode::NotFound, "this deployment serves no skills"))
}

fn find<'a>(files: &'a [(String, StaticFile)], name: &str) -> Option<&'a StaticFile> {
    files.iter().find(|(known, _)| known == name).map(|(_, file)| file)
}

fn unknown(files: &SkillFiles) -> Failure {
    let mut failure = Failure::new(ErrorCode::NotFound, "no such skill");
    failure.hint = Some(format!("the skills are {}; GET /skills lists them", files.names()));
    failure
}
