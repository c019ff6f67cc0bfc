//! The table of tools.

use openapi::{Operation, operations};
use serde_json::{Value, json};

use crate::connector;
use crate::schema;

/// How a call is carried out.
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
    /// For the model: when to call it, with what, and what comes back.
    description: &'static str,
    /// What it costs, and the scope that it asks for, are those of this operation.
    pub operation: &'static Operation,
    pub action: Action,
    read_only: bool,
    idempotent: bool,
    /// It reaches what lies outside the service: pages of the web.
    open_world: bool,
}

impl Tool {
    /// The definition as `tools/list` gives it.
    pub fn definition(&self) -> Value {
        let (input, output) = match self.action {
            Action::Search | Action::ReadDocument | Action::SubmitFeedback => {
                (schema::input(self.operation.request.unwrap_or_default()), schema::output(self.operation.response))
            }
            Action::ListFiles => (list_files_input(), schema::output(self.operation.response)),
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
                // Nothing that a tool does takes anything away.
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
                "description": "How many files to pass over: where an earlier answer ended.",
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
                      the organization's own files (workspace_id may be left out). Returns ranked results with URL, \
                      doc_id and quotable passages. Write the query in natural language. Use \
                      response.verbosity `compact` to look around and `standard` (the default) to quote; narrow with \
                      source_policy, filters and freshness_policy. Without response.budget.max_chars_total the whole \
                      result keeps to 20,000 characters. Read a result further with read_document.",
        operation: &operations::SEARCH,
        action: Action::Search,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
    Tool {
        name: "read_document",
        title: "Read a document",
        description: "Read one document: by the doc_id of a search result, or any public page by canonical_url, which \
                      is fetched when it is not known yet. One of the two is required. Returns markdown in parts: \
                      without content.max_chars the whole result keeps to 20,000 characters. When content.truncated \
                      is true, go on with content.range {start_char, capture_id} as the result's text says. For long \
                      documents ask for what matters: query with content.selection `query_relevant` returns the \
                      best passages, with ids to cite.",
        operation: &operations::READ_DOCUMENT,
        action: Action::ReadDocument,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
    Tool {
        name: "submit_feedback",
        title: "Give feedback",
        description: "Say what a search result, a passage or a document was worth: it improves later rankings. Send \
                      event_type with the search_id and doc_id (and passage_id) that it is about, for example \
                      `passage_used` after quoting one, or `result_not_helpful`. Once for each event.",
        operation: &operations::SUBMIT_FEEDBACK,
        action: Action::SubmitFeedback,
        read_only: false,
        idempotent: false,
        open_world: false,
    },
    Tool {
        name: "list_files",
        title: "List the organization's files",
        description: "List the files that the organization has uploaded, with sizes and times. Their content is found \
                      with search and scope.indexes [\"workspace\"]. Long lists come in parts: go on with start.",
        operation: &operations::LIST_FILES,
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
                      read one with fetch.",
        operation: &operations::SEARCH,
        action: Action::ConnectorSearch,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
    Tool {
        name: "fetch",
        title: "Fetch a document",
        description: "Return the text of a document by the id of a search result.",
        operation: &operations::READ_DOCUMENT,
        action: Action::ConnectorFetch,
        read_only: true,
        idempotent: true,
        open_world: true,
    },
];
