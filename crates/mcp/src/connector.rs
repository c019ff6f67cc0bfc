//! `search` and `fetch` as connectors of ChatGPT expect them (OpenAI, "Building MCP servers for ChatGPT"): one text item
//! with the result as JSON, and the same result as structured content.

use api_types::{
    ContentRequest, DocumentRequest, ErrorCode, SearchIndex, SearchRequest, SearchResponse, SearchScope, Section,
    Verbosity,
};
use openapi::{Input, operations};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::arguments::{self, Given, Unknown};
use crate::backend::{Backend, Failure};
use crate::calls::check_readable;

/// Characters that `fetch` returns. Far above the limit of other tools, because the contract has no continuation.
const FETCH_CHARS: i64 = 100_000;

#[derive(Debug, Deserialize)]
struct Search {
    query: String,
}

#[derive(Debug, Deserialize)]
struct Fetch {
    id: String,
}

#[derive(Serialize)]
struct Results {
    results: Vec<Hit>,
}

#[derive(Serialize)]
struct Hit {
    id: String,
    title: String,
    url: String,
}

#[derive(Serialize)]
struct Fetched {
    id: String,
    title: String,
    text: String,
    url: String,
    metadata: Map<String, Value>,
}

pub(crate) async fn search<B: Backend>(arguments: Value, backend: &B) -> Result<Answer, Failure> {
    let Given { request: Search { query }, .. } = arguments::own(arguments, &[], &search_input(), Unknown::Note)?;
    let mut request = SearchRequest::new(query);
    request.response.verbosity = Verbosity::IdsOnly;
    if let Some(workspace) = backend.workspace_id().await? {
        request.scope.indexes = Some(vec![SearchIndex::Web, SearchIndex::Workspace]);
        request.scope.workspace_id = Some(workspace.to_string());
    }
    arguments::check(&request)?;
    let response = search_all(request, backend).await?;
    let hit = |result: api_types::SearchResult| Hit {
        id: result.doc_id.to_string(),
        title: result.title.unwrap_or_else(|| result.canonical_url.clone()),
        url: result.canonical_url,
    };
    whole(&Results { results: response.results.unwrap_or_default().into_iter().map(hit).collect() })
}

/// Searches as `request` says, or the web alone on a server without an index: its search providers know no files.
async fn search_all<B: Backend>(request: SearchRequest, backend: &B) -> Result<SearchResponse, Failure> {
    let web = SearchRequest { scope: SearchScope::default(), ..request.clone() };
    let is_web = request == web;
    match backend.call(Input::<operations::Search>::of_body(request)).await {
        Err(failure) if failure.is(ErrorCode::RetrievalNotConfigured) && !is_web => {
            backend.call(Input::<operations::Search>::of_body(web)).await
        }
        answered => answered,
    }
}

pub(crate) async fn fetch<B: Backend>(arguments: Value, backend: &B) -> Result<Answer, Failure> {
    let Given { request: Fetch { id }, .. } = arguments::own(arguments, &[], &fetch_input(), Unknown::Note)?;
    let request = DocumentRequest {
        doc_id: Some(id.clone()),
        include: Some(vec![Section::Metadata, Section::Content]),
        content: ContentRequest { max_chars: Some(FETCH_CHARS), ..ContentRequest::default() },
        ..DocumentRequest::default()
    };
    arguments::check(&request).map_err(|_| Failure::invalid("id", "id must be the id of a search result"))?;
    let response = backend.call(Input::<operations::ReadDocument>::of_body(request)).await?;
    check_readable(&response)?;
    let mut metadata = Map::new();
    let mut set = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            metadata.insert(name.to_owned(), value.into());
        }
    };
    set("published_at", response.doc.published_at);
    set("description", response.doc.meta_description);
    set("capture_time", response.provenance.map(|capture| capture.capture_time));
    let (text, truncated) = response.content.map_or_else(Default::default, |content| (content.text, content.truncated));
    set("truncated", truncated.then(|| format!("the text is longer than {FETCH_CHARS} characters")));
    // Distinguishes a document without content from an empty one.
    let unavailable = response.warnings.first().filter(|_| text.is_empty());
    set("unavailable", unavailable.map(|warning| warning.message.clone()));
    whole(&Fetched {
        id,
        title: response.doc.title.unwrap_or_else(|| response.doc.canonical_url.clone()),
        text,
        url: response.doc.canonical_url,
        metadata,
    })
}

/// Builds an answer with the result as text and as structured content.
fn whole(result: &impl Serialize) -> Result<Answer, Failure> {
    let mut answer = Answer::new(String::new(), result)?;
    answer.text = answer.structured.to_string();
    Ok(answer)
}

fn object(properties: Value, required: &[&str], closed: bool) -> Value {
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if closed {
        schema["additionalProperties"] = false.into();
    }
    schema
}

pub(crate) fn search_input() -> Value {
    let query = json!({"type": "string", "minLength": 1, "maxLength": 8192, "description": "Search query."});
    object(json!({"query": query}), &["query"], true)
}

pub(crate) fn search_output() -> Value {
    let hit = object(
        json!({
            "id": {"type": "string", "description": "Id to pass to fetch."},
            "title": {"type": "string"},
            "url": {"type": "string", "description": "URL to cite."},
        }),
        &["id", "title", "url"],
        false,
    );
    object(json!({"results": {"type": "array", "items": hit}}), &["results"], false)
}

pub(crate) fn fetch_input() -> Value {
    let id = json!({"type": "string", "description": "Id of a search result."});
    object(json!({"id": id}), &["id"], true)
}

pub(crate) fn fetch_output() -> Value {
    object(
        json!({
            "id": {"type": "string"},
            "title": {"type": "string"},
            "text": {"type": "string", "description": "Content as markdown."},
            "url": {"type": "string", "description": "URL to cite."},
            "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
        }),
        &["id", "title", "text", "url", "metadata"],
        false,
    )
}
