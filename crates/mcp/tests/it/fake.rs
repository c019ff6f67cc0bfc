use std::cell::RefCell;

use api_types::{
    Access, Content, ContentFormat, DocumentBlock, DocumentProvenance, DocumentRequest, DocumentResponse, ErrorCode,
    FeedbackRequest, FeedbackResponse, FileEntry, FileListResponse, FileStatus, Passage, RateLimit, ResearchRequest,
    ResearchResponse, ResultMetadata, RunState, SearchIndex, SearchRequest, SearchResponse, SearchResult, Selection,
    Usage, Verbosity, Warning,
};
use jsonschema::Validator;
use mcp::{Backend, Call, Failure, Message, Profile, Server, Toolset, Upload, Uploaded};
use model::Scope;
use openapi::operations::{CreateResearch, GetResearch, ListFiles, ReadDocument, Search, SubmitFeedback};
use openapi::parameters::PageQuery;
use openapi::{Input, Spec};
use serde_json::{Value, json};
use uuid::Uuid;

pub const ORGANIZATION: Uuid = Uuid::from_u128(0xa);
pub const DOC: Uuid = Uuid::from_u128(0xd);
pub const CAPTURE: Uuid = Uuid::from_u128(0xc);

/// In-memory backend of one caller that records its requests.
pub struct Fake {
    pub scopes: Vec<Scope>,
    pub results: usize,
    /// Texts of the passages of every result.
    pub passages: Vec<String>,
    pub title: Option<String>,
    pub search_warnings: Vec<Warning>,
    pub document: RefCell<DocumentResponse>,
    /// Answer to reads that accept no stored content, instead of `document`.
    pub page: Option<DocumentResponse>,
    pub files: usize,
    /// Names without a file, which come before all files and take part in the paging.
    pub names_without_file: usize,
    pub research: ResearchResponse,
    pub failure: Option<Failure>,
    /// False: searches of the workspace are refused.
    pub index: bool,
    pub begun: RefCell<Vec<&'static str>>,
    pub searches: RefCell<Vec<SearchRequest>>,
    pub reads: RefCell<Vec<DocumentRequest>>,
    pub feedback: RefCell<Vec<FeedbackRequest>>,
    pub uploads: RefCell<Vec<Upload>>,
    pub listings: RefCell<Vec<PageQuery>>,
    pub runs: RefCell<Vec<ResearchRequest>>,
    /// Ids and waits of runs that were asked for.
    pub waits: RefCell<Vec<(String, Option<String>)>>,
}

impl Default for Fake {
    fn default() -> Self {
        Fake {
            scopes: Scope::ALL.to_vec(),
            results: 2,
            passages: vec![],
            title: None,
            search_warnings: vec![],
            document: RefCell::new(document("# Tides\n\nThe moon pulls.")),
            page: None,
            files: 2,
            names_without_file: 0,
            research: research("queued"),
            failure: None,
            index: true,
            begun: RefCell::default(),
            searches: RefCell::default(),
            reads: RefCell::default(),
            feedback: RefCell::default(),
            uploads: RefCell::default(),
            listings: RefCell::default(),
            runs: RefCell::default(),
            waits: RefCell::default(),
        }
    }
}

impl Fake {
    fn fail<T>(&self, answer: T) -> Result<T, Failure> {
        self.failure.clone().map_or(Ok(answer), Err)
    }
}

impl Backend for Fake {
    fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    async fn workspace_id(&self) -> Result<Option<Uuid>, Failure> {
        Ok(Some(ORGANIZATION))
    }

    fn begin(&self, operation: &'static Spec) -> Result<(), Failure> {
        self.begun.borrow_mut().push(operation.id);
        match operation.scope.filter(|scope| !self.may(*scope)) {
            None => Ok(()),
            Some(scope) => Err(Failure::new(ErrorCode::InsufficientScope, "no").with("scope", scope.as_str())),
        }
    }

    async fn upload(&self, upload: Upload) -> Result<Uploaded, Failure> {
        let name = upload.name.clone();
        self.uploads.borrow_mut().push(upload);
        self.fail(Uploaded { name, sync_id: Uuid::from_u128(4).to_string(), state: RunState::Queued, replaces: None })
    }
}

impl Call<Search> for Fake {
    async fn call(&self, input: Input<Search>) -> Result<SearchResponse, Failure> {
        let request = input.body;
        let of_files = request.scope.indexes.as_ref().is_some_and(|indexes| indexes.contains(&SearchIndex::Workspace));
        if of_files && !self.index {
            return Err(Failure::new(ErrorCode::RetrievalNotConfigured, "no index"));
        }
        let shows_passages = request.response.verbosity == Verbosity::Standard;
        self.searches.borrow_mut().push(request);
        let passages = self.passages.iter().zip(0..).map(|(text, ordinal)| passage(ordinal, text)).collect();
        let passages = Some(passages).filter(|_| shows_passages);
        let result = |rank: usize| SearchResult {
            name: None,
            rank: rank as i64,
            doc_id: DOC,
            canonical_url: format!("https://example.com/{rank}"),
            title: self.title.clone().or_else(|| (rank > 1).then(|| format!("Title {rank}\nof two lines"))),
            description: None,
            snippet: Some(format!("Snippet {rank}.")),
            mime: None,
            source_url: Some("https://example.com/source".to_owned()),
            source_uri: None,
            index: None,
            labels: Some(vec![]),
            metadata: Some(ResultMetadata {
                content_digest: Some("sha256:0".to_owned()),
                published_at: (rank == 1).then(|| "2026-01-05T10:00:00Z".to_owned()),
                ..ResultMetadata::default()
            }),
            passages: passages.clone(),
            provenance: None,
            score: None,
        };
        self.fail(SearchResponse {
            degraded: None,
            schema: Some("https://api.example.com/schemas/SearchResponse.json".to_owned()),
            request_id: Uuid::nil(),
            search_id: Uuid::from_u128(5),
            session_id: Uuid::nil().to_string(),
            results: Some((1..=self.results).map(result).collect()),
            access: Some(access()),
            integration_results: None,
            ranking: None,
            truncated: None,
            usage: Some(Usage { requests: 1, bytes_returned: 9 }),
            warnings: Some(self.search_warnings.clone()),
        })
    }
}

impl Call<ReadDocument> for Fake {
    async fn call(&self, input: Input<ReadDocument>) -> Result<DocumentResponse, Failure> {
        let page = self.page.clone().filter(|_| input.body.max_age_seconds == Some(0));
        self.reads.borrow_mut().push(input.body);
        self.fail(page.unwrap_or_else(|| self.document.borrow().clone()))
    }
}

impl Call<CreateResearch> for Fake {
    async fn call(&self, input: Input<CreateResearch>) -> Result<ResearchResponse, Failure> {
        self.runs.borrow_mut().push(input.body);
        self.fail(self.research.clone())
    }
}

impl Call<GetResearch> for Fake {
    async fn call(&self, input: Input<GetResearch>) -> Result<ResearchResponse, Failure> {
        self.waits.borrow_mut().push((input.path.0, input.query.wait_seconds));
        self.fail(self.research.clone())
    }
}

impl Call<SubmitFeedback> for Fake {
    async fn call(&self, input: Input<SubmitFeedback>) -> Result<FeedbackResponse, Failure> {
        let request = input.body;
        self.feedback.borrow_mut().push(request);
        self.fail(FeedbackResponse {
            schema: None,
            request_id: Uuid::nil(),
            session_id: Uuid::nil().to_string(),
            accepted: true,
            feedback_id: Uuid::from_u128(3),
            access: access(),
            usage: None,
        })
    }
}

impl Call<ListFiles> for Fake {
    async fn call(&self, input: Input<ListFiles>) -> Result<FileListResponse, Failure> {
        self.listings.borrow_mut().push(input.query.clone());
        let file = |number: usize| FileEntry {
            name: format!("file-{number}.txt"),
            size: 5,
            last_modified: "2026-01-01T00:00:00Z".to_owned(),
            doc_id: Some(DOC),
            canonical_url: Some(format!("workspace://{DOC}/file-{number}.txt")),
            status: Some(if number == 0 { FileStatus::Failed } else { FileStatus::Indexed }),
            reason: (number == 0).then(|| "encrypted: the file\nis locked".to_owned()),
            indexed_at: None,
            labels: if number == 1 { vec!["finance".to_owned()] } else { Vec::new() },
        };
        let nameless = |number: usize| FileEntry { name: format!("absent-{number}.txt"), ..file(number) };
        let mut files: Vec<FileEntry> = (0..self.files).map(file).collect();
        files.extend((0..self.names_without_file).map(nameless));
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let mut next_cursor = None;
        if let Some(limit) = input.query.limit {
            let after = input.query.cursor.unwrap_or_default();
            files.retain(|file| file.name > after);
            let limit: usize = limit.parse().unwrap();
            next_cursor = files.get(limit).map(|_| files[limit - 1].name.clone());
            files.truncate(limit);
        }
        files.retain(|file| file.name.starts_with("file-"));
        self.fail(FileListResponse { schema: None, request_id: Uuid::nil(), files, next_cursor })
    }
}

/// Returns a run without a report.
pub fn research(status: &str) -> ResearchResponse {
    let run = json!({
        "request_id": Uuid::nil(), "research_id": Uuid::from_u128(6), "session_id": Uuid::nil(), "query": "tides?",
        "status": status, "stop_reason": null, "created_at": "2026-01-05T10:00:00Z", "started_at": null,
        "completed_at": null, "expires_at": "2026-02-05T10:00:00Z", "plan": [], "output": null, "error": null,
        "warnings": [], "metadata": {}, "access": access(), "usage": null,
        "progress": {"phase": "reading", "searches": 6, "documents_read": 11, "passages_kept": 37, "elapsed_ms": 41_200},
    });
    serde_json::from_value(run).unwrap()
}

pub fn passage(ordinal: i64, text: &str) -> Passage {
    Passage {
        passage_id: Uuid::from_u128(0x1000 + ordinal as u128),
        doc_id: DOC,
        ordinal,
        text: text.to_owned(),
        char_start: Some(ordinal * 1_000),
        char_end: Some(ordinal * 1_000 + text.chars().count() as i64),
        section_heading: Some("Tides".to_owned()),
        section_path: Some(vec!["Tides".to_owned()]),
    }
}

fn access() -> Access {
    Access { rate_limit: RateLimit { limit_rps: 10, remaining: 9, reset_at: "2026-01-01T00:00:01Z".to_owned() } }
}

pub fn document(text: &str) -> DocumentResponse {
    DocumentResponse {
        schema: None,
        request_id: Uuid::nil(),
        session_id: Uuid::nil().to_string(),
        access: access(),
        doc: DocumentBlock {
            name: None,
            doc_id: DOC,
            canonical_url: "https://example.com/tides".to_owned(),
            source_url: "https://example.com/tides".to_owned(),
            title: Some("Tides".to_owned()),
            meta_description: None,
            headings: vec!["Tides".to_owned()],
            content_digest: None,
            latest_capture_id: Some(CAPTURE),
            published_at: Some("2026-01-01T00:00:00Z".to_owned()),
            first_seen_at: "2026-01-01T00:00:00Z".to_owned(),
            last_seen_at: "2026-01-01T00:00:00Z".to_owned(),
        },
        content: Some(Content {
            selection: Selection::FullDocument,
            format: ContentFormat::Markdown,
            text: text.to_owned(),
            truncated: false,
            char_count: text.chars().count() as i64,
            start_char: 0,
        }),
        passages: None,
        capture_history: None,
        provenance: Some(DocumentProvenance { capture_id: CAPTURE, capture_time: "2026-01-01T00:00:00Z".to_owned() }),
        usage: Some(Usage { requests: 1, bytes_returned: 9 }),
        warnings: vec![],
    }
}

/// Sends one request and returns the whole message.
pub async fn send(profile: Profile, fake: &Fake, method: &str, params: Value) -> Value {
    send_to(Toolset::new(profile), fake, method, params).await
}

/// Sends one request to a server of these tools.
pub async fn send_to(toolset: Toolset, fake: &Fake, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let Message::Request(request) = Message::parse(message.as_bytes()).unwrap() else { panic!("{message}") };
    let body = Server::new(toolset).answer(request, fake).await.body();
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(1)));
    body
}

/// Calls a tool and validates the result against its output schema, as strict clients do.
pub async fn call_in(profile: Profile, fake: &Fake, tool: &str, arguments: Value) -> Value {
    let result = send(profile, fake, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    let result = result["result"].clone();
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
    assert_eq!(result["content"][0]["type"], "text");
    if result["isError"] == false {
        let definitions = tools(profile, &Fake::default()).await;
        let definition = definitions.iter().find(|definition| definition["name"] == tool).unwrap();
        let errors: Vec<_> = validator(&definition["outputSchema"])
            .iter_errors(&result["structuredContent"])
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
    } else {
        assert!(result.get("structuredContent").is_none());
    }
    result
}

pub async fn call(fake: &Fake, tool: &str, arguments: Value) -> Value {
    call_in(Profile::Full, fake, tool, arguments).await
}

/// Asserts that a call fails and returns its error, as shown to the model.
pub async fn failed(fake: &Fake, tool: &str, arguments: Value) -> Value {
    let result = call(fake, tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    serde_json::from_str::<Value>(text(&result)).unwrap()["error"].clone()
}

pub fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

pub async fn tools(profile: Profile, fake: &Fake) -> Vec<Value> {
    send(profile, fake, "tools/list", json!({})).await["result"]["tools"].as_array().unwrap().clone()
}

pub fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::options().should_validate_formats(true).build(schema).unwrap()
}
