//! Skills, agents and their indexes, without authentication.

use std::fmt::Write;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::ErrorCode;
use serde_json::{Value, json};
use skills::{Published, Text};
use uuid::Uuid;

use crate::State;
use crate::failure::Failure;
use crate::handlers::unmatched::without_admission;
use crate::reply::{Reply, respond};
use crate::static_file::StaticFile;

const MARKDOWN: &str = "text/markdown; charset=utf-8";
/// Schema of the discovery index: draft 0.2.0 of "Agent Skills Discovery via Well-Known URIs".
const DISCOVERY_SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// All published files, for one public URL.
pub(crate) struct SkillFiles {
    published: Published,
    skills: Vec<(String, StaticFile)>,
    agents: Vec<(String, StaticFile)>,
    installer: StaticFile,
    discovery: StaticFile,
    llms: StaticFile,
    public_url: String,
}

impl SkillFiles {
    /// Returns `None` if the URL cannot be quoted in a shell script.
    pub fn new(public_url: &str) -> Option<Self> {
        let published = Published::new(public_url)?;
        let files = |texts: &[Text]| {
            texts.iter().map(|text| (text.name.clone(), StaticFile::new(MARKDOWN, text.text.clone()))).collect()
        };
        Some(Self {
            skills: files(&published.skills),
            agents: files(&published.agents),
            installer: StaticFile::new("text/x-shellscript; charset=utf-8", published.installer.clone()),
            discovery: StaticFile::new("application/json", discovery_index(&published).to_string()),
            llms: StaticFile::new(MARKDOWN, llms_txt(&published, public_url)),
            public_url: public_url.to_owned(),
            published,
        })
    }

    fn names(&self) -> String {
        self.skills.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

/// `GET /skills`.
pub(crate) async fn index(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    let request_id = Uuid::now_v7();
    let outcome = files(&state).and_then(|files| {
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

/// `GET /llms.txt`.
pub(crate) async fn llms(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    serve(&request, &state, |files| Some(&files.llms)).await
}

async fn serve(
    request: &HttpRequest,
    state: &State,
    choose: impl FnOnce(&SkillFiles) -> Option<&StaticFile>,
) -> HttpResponse {
    let failure = match files(state) {
        Ok(files) => match choose(files) {
            Some(file) => return file.answer(request).await,
            None => unknown(files),
        },
        Err(failure) => failure,
    };
    without_admission(request, state, Err(failure)).await
}

fn files(state: &State) -> Result<&SkillFiles, Failure> {
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

fn discovery_index(published: &Published) -> Value {
    let entry = |skill: &Text| {
        json!({
            "name": skill.name,
            "type": "skill-md",
            "description": skill.description,
            "url": format!("/.well-known/agent-skills/{}/SKILL.md", skill.name),
            "digest": format!("sha256:{}", skill.sha256),
        })
    };
    let skills: Vec<Value> = published.skills.iter().map(entry).collect();
    json!({"$schema": DISCOVERY_SCHEMA, "skills": skills})
}

/// Renders `llms.txt` in the format of llmstxt.org.
fn llms_txt(published: &Published, public_url: &str) -> String {
    let mut text = format!(
        "# Retrieval\n\n> One API that searches (a shared web index and an organization's private files), reads any \
         document as clean, citable markdown, takes feedback, indexes uploaded files and reports usage.\n\n\
         Every call needs `Authorization: Bearer API_KEY`, except for the descriptions below.\n\n## Descriptions\n\n\
         - [OpenAPI 3.1]({public_url}/openapi/public.json): every operation, field and error\n\
         - [Reference]({public_url}/docs): the same as a web page\n\
         - MCP: `POST {public_url}/mcp` (streamable HTTP, the same keys)\n\
         - [Installer of the skills]({public_url}/skills/install.sh): a shell script\n\n## Skills\n\n"
    );
    for skill in &published.skills {
        let _ =
            writeln!(text, "- [{}]({public_url}/skills/{}/SKILL.md): {}", skill.name, skill.name, skill.description);
    }
    text
}
