//! The table of tools.

use api_types::{
    DocumentRequest, DocumentResponse, FeedbackRequest, FeedbackResponse, FileListResponse, SearchRequest,
    SearchResponse,
};
use openapi::operations::{ListFiles, ReadDocument, Search, SubmitFeedback};
use openapi::{Operation, Spec};
use serde_json::{Value, json};

use crate::connector;
use crate::schema;

/// The implementation of a tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    Search,
    ReadDocument,
    SubmitFeedback,
    ListFiles,
    ConnectorSearch,
    ConnectorFetch,
}

/// One tool.
pub(crate) struct Tool {
    pub name: &'static str,
    title: &'static str,
    /// Instructions for the model: purpose, arguments, result.
    description: &'static str,
    pub action: Action,
    read_only: bool,
    idempotent: bool,
    /// True if the tool reaches beyond the service, to pages of the web.
    open_world: bool,
}

impl Tool {
    /// The operation behind the tool: a call requires its scope and counts as it.
    pub fn operation(&self) -> &'static Spec {
        match self.action {
            Action::Search | Action::ConnectorSearch => Search::SPEC,
            Action::ReadDocument | Action::ConnectorFetch => ReadDocument::SPEC,
            Action::SubmitFeedback => SubmitFeedback::SPEC,
            Action::ListFiles => ListFiles::SPEC,
        }
    }

    /// The definition in `tools/list`.
    pub fn definition(&self) -> Value {
        let (input, output) = match self.action {
            Action::Search => (schema::input::<SearchRequest>(), schema::output::<SearchResponse>()),
            Action::ReadDocument => (schema::input::<DocumentRequest>(), schema::output::<DocumentResponse>()),
            Action::SubmitFeedback => (schema::input::<FeedbackRequest>(), schema::output::<FeedbackResponse>()),
            Action::ListFiles => (list_files_input(), schema::output::<FileListResponse>()),
            Action::ConnectorSearch => (connector::search_input(), connector::search_output()),
            Action::ConnectorFetch => (connector::fetch_input(), connector::fetch_output()),
        };
        json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input,
            "outputSchema": output,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                // No tool deletes or overwrites anything.
                "destructiveHint": false,
                "idempotentHint": self.idempotent,
                "openWorldHint": self.open_world,
            },
        })
    }
}

fn list_files_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "start": {
                "type": "integer",
                "minimum": 0,
                "default": 0,
                "description": "Number of files to skip: the end of the previous part.",
            },
        },
        "additionalProperties": false,
    })
}

pub(crate) static FULL: [Tool; 4] = [
    Tool {
        name: "search",
        title: "Search",
        description: "Search a shared web index and, with scope.indexes [\"workspace\"] or [\"web\", \"workspace\"], \
                      the organization's own files (workspace_id is optional). Returns ranked results with URL, \
                      doc_id and quotable passages. Write the query in natural language. Use response.verbosity \
                      `compact` to explore and `standard` (the default) to quote; narrow with source_policy, filters \
                      and freshness_policy. Without response.budget.max_chars_total the whole result is limited to \
                      20,000 characters. Read more of a result with read_document.",
        action: Action::Search,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
    Tool {
        name: "read_document",
        title: "Read a document",
        description: "Read one document by the doc_id or canonical_url of a search result, or any public page by \
                      canonical_url; unknown pages are fetched. One of the two is required. Returns markdown in parts: without \
                      content.max_chars the whole result is limited to 20,000 characters. If content.truncated is \
                      true, continue with content.range {start_char, capture_id} as shown in the result's text. For \
                      long documents, query with content.selection `query_relevant` returns the best passages, with \
                      ids to cite.",
        action: Action::ReadDocument,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
    Tool {
        name: "submit_feedback",
        title: "Give feedback",
        description: "Rate a search result, a passage or a document for the operator of the service, who uses it to \
                      judge and improve the results; the next search does not change. Send event_type with the \
                      search_id and doc_id (and passage_id) it refers to, for example `passage_used` after quoting a \
                      passage, or `result_not_helpful`. Send each event once.",
        action: Action::SubmitFeedback,
        read_only: false,
        idempotent: false,
        open_world: false,
    },
    Tool {
        name: "list_files",
        title: "List the organization's files",
        description: "List the organization's uploaded files, with sizes and times. To search their content, use search \
                      with scope.indexes [\"workspace\"]. Long lists come in parts: continue with start.",
        action: Action::ListFiles,
        read_only: true,
        idempotent: true,
        open_world: false,
    },
];

pub(crate) static CONNECTOR: [Tool; 2] = [
    Tool {
        name: "search",
        title: "Search",
        description: "Search a web index and the organization's own files. Returns results with id, title and url; \
                      read a result with fetch.",
        action: Action::ConnectorSearch,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
    Tool {
        name: "fetch",
        title: "Fetch a document",
        description: "Return the text of a document by the id of a search result.",
        action: Action::ConnectorFetch,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
];
