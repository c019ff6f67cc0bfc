//! The table of tools.

use openapi::operations::{CreateResearch, GetResearch, ListFiles, PresignFile, ReadDocument, Search, SubmitFeedback};
use openapi::{Operation, Spec};
use serde_json::{Value, json};

use crate::{Backend, connector, inputs};

/// The implementation of a tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    Search,
    ReadDocument,
    ResearchStart,
    ResearchGet,
    SubmitFeedback,
    ListFiles,
    UploadFile,
    ConnectorSearch,
    ConnectorFetch,
}

/// Effect of a tool, for clients that ask their users before some calls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Effect {
    Reads,
    Adds,
    /// Replaces what was there before.
    Replaces,
}

/// One tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub name: &'static str,
    title: &'static str,
    /// Instructions for the model: purpose, arguments, result.
    description: &'static str,
    pub action: Action,
    effect: Effect,
    /// True if the tool reaches beyond the service, to pages of the web.
    open_world: bool,
}

impl Tool {
    /// The operation behind the tool: a call requires its scope and counts as it.
    pub fn operation(&self) -> &'static Spec {
        match self.action {
            Action::Search | Action::ConnectorSearch => Search::SPEC,
            Action::ReadDocument | Action::ConnectorFetch => ReadDocument::SPEC,
            Action::ResearchStart => CreateResearch::SPEC,
            Action::ResearchGet => GetResearch::SPEC,
            Action::SubmitFeedback => SubmitFeedback::SPEC,
            Action::ListFiles => ListFiles::SPEC,
            Action::UploadFile => PresignFile::SPEC,
        }
    }

    /// True if the caller may have the scope of the operation.
    pub fn is_open_to<B: Backend>(&self, backend: &B) -> bool {
        self.operation().scope.is_none_or(|scope| backend.may(scope))
    }

    /// The definition in `tools/list`.
    pub fn definition(&self) -> Value {
        let (input, output) = match self.action {
            Action::Search => (inputs::search(), output("results", "array")),
            Action::ReadDocument => (inputs::read_document(), output("doc", "object")),
            Action::ResearchStart => (inputs::research_start(), output("research_id", "string")),
            Action::ResearchGet => (inputs::research_get(), output("research_id", "string")),
            Action::SubmitFeedback => (inputs::submit_feedback(), output("feedback_id", "string")),
            Action::ListFiles => (inputs::list_files(), output("files", "array")),
            Action::UploadFile => (inputs::upload_file(), output("sync_id", "string")),
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
                "readOnlyHint": self.effect == Effect::Reads,
                "destructiveHint": self.effect == Effect::Replaces,
                "idempotentHint": self.effect != Effect::Adds,
                "openWorldHint": self.open_world,
            },
        })
    }
}

/// Returns the schema of an answer, with its main field only: models read the answer, not its schema.
fn output(field: &str, kind: &str) -> Value {
    json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]})
}

const SEARCH_TOOL: Tool = Tool {
    name: "search",
    title: "Search",
    description: "Search a web index, the organization's own files (indexes [\"workspace\"]), or both. Returns ranked \
                  results with title, URL, doc_id and the passages that answer the query. Write the query as a full \
                  question; narrow it with sites, dates and languages only if asked to.",
    action: Action::Search,
    effect: Effect::Reads,
    open_world: true,
};

pub(crate) static SEARCH: [Tool; 1] = [SEARCH_TOOL];

pub(crate) static FULL: [Tool; 7] = [
    SEARCH_TOOL,
    Tool {
        name: "read_document",
        title: "Read a document",
        description: "Read a search result by doc_id, or a listed file or any public page by canonical_url, as markdown. \
                      Long texts come in parts, each with the call that continues it. With query, only the best passages \
                      are returned.",
        action: Action::ReadDocument,
        effect: Effect::Reads,
        open_world: true,
    },
    Tool {
        name: "research_start",
        title: "Start research",
        description: "Start a run that searches and reads many sources and writes a report with verified citations. For \
                      questions that need several sources; takes seconds to minutes and is charged per search. Get the \
                      report with research_get.",
        action: Action::ResearchStart,
        effect: Effect::Adds,
        open_world: true,
    },
    Tool {
        name: "research_get",
        title: "Get a research report",
        description: "Return the report of a research run with numbered citations and their quotes. Waits for its end, and \
                      returns the progress if it takes longer.",
        action: Action::ResearchGet,
        effect: Effect::Reads,
        open_world: false,
    },
    Tool {
        name: "submit_feedback",
        title: "Give feedback",
        description: "Tell the operator how good a result was: event_type with search_id and doc_id, for example \
                      `passage_used` after quoting. Send each event once.",
        action: Action::SubmitFeedback,
        effect: Effect::Adds,
        open_world: false,
    },
    Tool {
        name: "list_files",
        title: "List the organization's files",
        description: "List uploaded files, page by page. To search their content, use search with indexes \
                      [\"workspace\"].",
        action: Action::ListFiles,
        effect: Effect::Reads,
        open_world: false,
    },
    Tool {
        name: "upload_file",
        title: "Upload a text file",
        description: "Store a small text file among the organization's files and index it, so that search finds it \
                      within seconds. Replaces a file of the same name.",
        action: Action::UploadFile,
        effect: Effect::Replaces,
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
        effect: Effect::Reads,
        open_world: true,
    },
    Tool {
        name: "fetch",
        title: "Fetch a document",
        description: "Return the text of a document by the id of a search result.",
        action: Action::ConnectorFetch,
        effect: Effect::Reads,
        open_world: true,
    },
];
