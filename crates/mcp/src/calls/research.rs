use api_types::NoBody;
use openapi::parameters::{ResearchId, ResearchQuery};
use openapi::{Input, operations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::limit;
use super::search::fill_workspace;
use crate::answer::{self, Answer, Tail};
use crate::arguments::{self, Given, Unknown};
use crate::backend::{Backend, Failure};
use crate::inputs;

/// Default size of an answer in characters: a report of the default size and its quotes.
const DEFAULT_CHARS: usize = 20_000;

#[derive(Debug, Deserialize)]
struct GetArguments {
    research_id: String,
    #[serde(default = "default_wait")]
    wait_seconds: i64,
    #[serde(default)]
    max_chars: Option<i64>,
}

/// Shorter than the timeouts of clients.
fn default_wait() -> i64 {
    20
}

pub(super) async fn start<B: Backend>(arguments: Value, can_get: bool, backend: &B) -> Result<Answer, Failure> {
    let Given { mut request, notes } = arguments::research(arguments)?;
    fill_workspace(&mut request.scope, &request.filters, backend).await?;
    let run = backend.call(Input::<operations::CreateResearch>::of_body(request)).await?.run;
    let mut tail = Tail::new(notes, &run.warnings);
    if can_get {
        tail.next(answer::research_call(&run));
    }
    let fields = json!({"research_id": run.research_id, "status": run.status});
    let status = fields["status"].as_str().unwrap_or_default();
    Answer::short(format!("Research {} is {status}.", run.research_id), &fields, &tail)
}

pub(super) async fn get<B: Backend>(arguments: Value, backend: &B) -> Result<Answer, Failure> {
    let Given { request: GetArguments { research_id, wait_seconds, max_chars }, mut notes } =
        arguments::own(arguments, arguments::RESEARCH_GET, &inputs::research_get(), Unknown::Note)?;
    let limit = limit(max_chars, DEFAULT_CHARS, &mut notes);
    let query = ResearchQuery { wait_seconds: Some(wait_seconds.to_string()) };
    let path = ResearchId(research_id.trim().to_owned());
    let response = backend.call(Input::<operations::GetResearch> { path, query, body: NoBody {} }).await?;
    let tail = Tail::new(notes, &response.run.warnings);
    answer::research(&response, limit, tail)
}
