//! Tool calls: arguments with defaults become an operation's input, and its response becomes the answer.

mod feedback;
mod files;
mod read;
mod research;
mod search;
mod upload;

use serde_json::Value;

pub(crate) use read::check_readable;

use crate::answer::Answer;
use crate::backend::Backend;
use crate::tools::{Action, Tool};
use crate::toolset::Toolset;
use crate::{Failure, connector};

/// Smallest limit of an answer, in characters: a head, a quote and the next step.
const MIN_CHARS: usize = 500;

/// Largest limit of an answer, in characters.
pub(crate) const MAX_CHARS: usize = 200_000;

/// Carries out a call.
///
/// # Errors
/// The error of the operation.
pub(crate) async fn run<B: Backend>(
    tool: &Tool,
    toolset: &Toolset,
    arguments: Value,
    backend: &B,
) -> Result<Answer, Failure> {
    backend.begin(tool.operation())?;
    match tool.action {
        Action::Search => search::run(arguments, toolset.offers("read_document", backend), backend).await,
        Action::ReadDocument => read::run(arguments, backend).await,
        Action::ResearchStart => research::start(arguments, toolset.offers("research_get", backend), backend).await,
        Action::ResearchGet => research::get(arguments, backend).await,
        Action::SubmitFeedback => feedback::run(arguments, backend).await,
        Action::ListFiles => files::run(arguments, backend).await,
        Action::UploadFile => upload::run(arguments, toolset.offers("search", backend), backend).await,
        Action::ConnectorSearch => connector::search(arguments, backend).await,
        Action::ConnectorFetch => connector::fetch(arguments, backend).await,
    }
}

/// Returns the limit of an answer: as requested within bounds, which a note reports.
fn limit(requested: Option<i64>, default: usize, notes: &mut Vec<String>) -> usize {
    let Some(requested) = requested else { return default };
    let requested = usize::try_from(requested).unwrap_or(0);
    let limit = requested.clamp(MIN_CHARS, MAX_CHARS);
    if limit != requested {
        notes.push(format!("max_chars was set to {limit}; allowed are {MIN_CHARS} to {MAX_CHARS}"));
    }
    limit
}
