//! Tool calls: arguments with defaults become an operation's input, and its response becomes the result.

use api_types::{DocumentRequest, FeedbackRequest, NoBody, SearchIndex, SearchRequest, Section, Selection};
use openapi::Input;
use openapi::operations::{ListFiles, ReadDocument, Search, SubmitFeedback};
use serde::Deserialize;
use serde_json::Value;

use crate::backend::Backend;
use crate::output::Output;
use crate::tools::{Action, Tool};
use crate::{Failure, arguments, connector, fit, summary};

/// Default size of a result in characters: text and structured content together. Clients truncate longer results, which
/// are then neither valid JSON nor say how to continue.
const RESULT_CHARS: usize = 20_000;

/// The share of the structured content; the summary has the rest.
pub(crate) const STRUCTURED_CHARS: usize = RESULT_CHARS - summary::MAX_CHARS;

/// Content requested of a document, in characters. Metadata and JSON escaping need the rest.
const CONTENT_CHARS: i64 = 17_000;

/// Carries out a call.
///
/// # Errors
/// The error of the operation.
pub(crate) async fn run<B: Backend>(tool: &Tool, arguments: Value, backend: &B) -> Result<Output, Failure> {
    backend.begin(tool.operation())?;
    match tool.action {
        Action::Search => search(arguments, backend).await,
        Action::ReadDocument => read_document(arguments, backend).await,
        Action::SubmitFeedback => submit_feedback(arguments, backend).await,
        Action::ListFiles => list_files(arguments, backend).await,
        Action::ConnectorSearch => connector::search(arguments, backend).await,
        Action::ConnectorFetch => connector::fetch(arguments, backend).await,
    }
}

async fn search<B: Backend>(arguments: Value, backend: &B) -> Result<Output, Failure> {
    let mut request: SearchRequest = arguments::read(arguments)?;
    request.response.budget.max_chars_total.get_or_insert(STRUCTURED_CHARS as i64);
    let workspace = request.scope.indexes.as_ref().is_some_and(|indexes| indexes.contains(&SearchIndex::Workspace));
    if workspace && request.scope.workspace_id.is_none() {
        // Models do not know the id, and the key belongs to one organization.
        request.scope.workspace_id = backend.workspace_id().map(|id| id.to_string());
    }
    let response = backend.call(Input::<Search>::of_body(request)).await?;
    Output::new(summary::search(&response), &response)
}

async fn read_document<B: Backend>(arguments: Value, backend: &B) -> Result<Output, Failure> {
    let mut request: DocumentRequest = arguments::read(arguments)?;
    let content = &mut request.content;
    if request.include.is_none() {
        // Each text once: the passages of a whole document repeat its content.
        let passages = content.selection != Selection::FullDocument || content.include_offsets;
        let sections = if passages { Section::Passages } else { Section::Content };
        request.include = Some(vec![Section::Metadata, sections]);
    }
    let range_limit = content.range.as_ref().and_then(|range| range.max_chars);
    let unlimited = content.max_chars.is_none() && range_limit.is_none();
    // The best passages are few without a limit; with one they would fill it, and the last ones would be shed again.
    let is_best = matches!(content.selection, Selection::QueryRelevant | Selection::TopPassages);
    if unlimited && !is_best {
        content.max_chars = Some(CONTENT_CHARS);
    }
    let mut response = backend.call(Input::<ReadDocument>::of_body(request)).await?;
    let left_out = if unlimited { fit::document(&mut response, STRUCTURED_CHARS) } else { fit::LeftOut::default() };
    Output::new(summary::document(&response, left_out), &response)
}

async fn submit_feedback<B: Backend>(arguments: Value, backend: &B) -> Result<Output, Failure> {
    let request: FeedbackRequest = arguments::read(arguments)?;
    let response = backend.call(Input::<SubmitFeedback>::of_body(request)).await?;
    Output::new(summary::feedback(&response), &response)
}

/// Arguments of `list_files`. The operation has none, but models read the list in parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    #[serde(default)]
    start: u64,
}

async fn list_files<B: Backend>(arguments: Value, backend: &B) -> Result<Output, Failure> {
    let ListArguments { start } = arguments::parse(arguments)?;
    let mut response = backend.call(Input::<ListFiles>::of_body(NoBody {})).await?;
    let total = response.files.len();
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(total);
    response.files.drain(..start);
    fit::files(&mut response, STRUCTURED_CHARS);
    Output::new(summary::files(&response, start, total), &response)
}
