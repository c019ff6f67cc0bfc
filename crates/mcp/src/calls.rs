//! A call of a tool: its arguments, with our defaults, to the operation, and the operation's answer as a result.

use api_types::{DocumentRequest, FeedbackRequest, SearchIndex, SearchRequest, Section, Selection};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backend::Backend;
use crate::tools::{Action, Tool};
use crate::{Failure, arguments, connector, fit, summary};

/// What a model is given by default, in characters, text and structured content together. Clients cut longer results,
/// and a cut result is neither valid JSON nor says how to go on.
const RESULT_CHARS: usize = 20_000;

/// The structured content's part of it; the rest is the summary's.
pub(crate) const STRUCTURED_CHARS: usize = RESULT_CHARS - summary::MAX_CHARS;

/// How much of a document is asked for: what is left when its metadata and the quoting of JSON have their part.
const CONTENT_CHARS: i64 = 17_000;

/// A successful result.
#[derive(Debug)]
pub(crate) struct Output {
    pub text: String,
    pub structured: Value,
}

impl Output {
    pub fn new(text: String, structured: &impl Serialize) -> Result<Self, Failure> {
        // Answers are made of strings, numbers, lists and maps with string keys: they always serialize.
        let structured = serde_json::to_value(structured)
            .map_err(|_| Failure::new(api_types::ErrorCode::InternalError, "the answer cannot be written"))?;
        Ok(Self { text, structured })
    }
}

/// Carries out a call.
///
/// # Errors
/// What the API would answer.
pub(crate) async fn run<B: Backend>(tool: &Tool, arguments: Value, backend: &B) -> Result<Output, Failure> {
    backend.begin(tool.operation)?;
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
        // A model does not know the id; the key stands for one organization anyway.
        request.scope.workspace_id = backend.workspace_id().map(|id| id.to_string());
    }
    let response = backend.search(request).await?;
    Output::new(summary::search(&response), &response)
}

async fn read_document<B: Backend>(arguments: Value, backend: &B) -> Result<Output, Failure> {
    let mut request: DocumentRequest = arguments::read(arguments)?;
    let content = &mut request.content;
    if request.include.is_none() {
        // All of the text once: the passages of a whole document are its content again.
        let passages = content.selection != Selection::FullDocument || content.include_offsets;
        let sections = if passages { Section::Passages } else { Section::Content };
        request.include = Some(vec![Section::Metadata, sections]);
    }
    let range_limit = content.range.as_ref().and_then(|range| range.max_chars);
    let unlimited = content.max_chars.is_none() && range_limit.is_none();
    if unlimited {
        content.max_chars = Some(CONTENT_CHARS);
    }
    let mut response = backend.read_document(request).await?;
    let left_out = if unlimited { fit::document(&mut response, STRUCTURED_CHARS) } else { fit::LeftOut::default() };
    Output::new(summary::document(&response, left_out), &response)
}

async fn submit_feedback<B: Backend>(arguments: Value, backend: &B) -> Result<Output, Failure> {
    let request: FeedbackRequest = arguments::read(arguments)?;
    let response = backend.submit_feedback(request).await?;
    Output::new(summary::feedback(&response), &response)
}

/// The operation takes no arguments; a list for a model comes in parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListFiles {
    #[serde(default)]
    start: u64,
}

async fn list_files<B: Backend>(arguments: Value, backend: &B) -> Result<Output, Failure> {
    let ListFiles { start } = arguments::parse(arguments)?;
    let mut response = backend.list_files().await?;
    let total = response.files.len();
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(total);
    response.files.drain(..start);
    fit::files(&mut response, STRUCTURED_CHARS);
    Output::new(summary::files(&response, start, total), &response)
}
