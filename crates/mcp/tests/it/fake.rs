use std::cell::RefCell;

use api_types::{
    Access, Content, ContentFormat, DocumentBlock, DocumentProvenance, DocumentRequest, DocumentResponse, ErrorCode,
    FeedbackRequest, FeedbackResponse, FileEntry, FileListResponse, RateLimit, SearchRequest, SearchResponse,
    SearchResult, Selection, Usage,
};
use jsonschema::Validator;
use mcp::{Backend, Call, Failure, Message, Profile, Server};
use model::Scope;
use openapi::operations::{ListFiles, ReadDocument, Search, SubmitFeedback};
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
    pub document: RefCell<DocumentResponse>,
    pub files: usize,
    pub failure: Option<Failure>,
    pub begun: RefCell<Vec<&'static str>>,
    pub searches: RefCell<Vec<SearchRequest>>,
    pub reads: RefCell<Vec<DocumentRequest>>,
    pub feedback: RefCell<Vec<FeedbackRequest>>,
}

impl Default for Fake {
    fn default() -> Self {
        Fake {
            scopes: vec![Scope::SearchRead, Scope::DocumentRead, Scope::FeedbackWrite, Scope::FilesRead],
            results: 2,
            document: RefCell::new(document("# Tides\n\nThe moon pulls.")),
            files: 2,
            failure: None,
            begun: RefCell::default(),
            searches: RefCell::default(),
            reads: RefCell::default(),
            feedback: RefCell::default(),
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

    fn workspace_id(&self) -> Option<Uuid> {
        Some(ORGANIZATION)
    }

    fn begin(&self, operation: &'static Spec) -> Result<(), Failure> {
        self.begun.borrow_mut().push(operation.id);
        match operation.scope.filter(|scope| !self.may(*scope)) {
            None => Ok(()),
            Some(scope) => Err(Failure::new(ErrorCode::InsufficientScope, "no").with("scope", scope.as_str())),
        }
    }
}

impl Call<Search> for Fake {
    async fn call(&self, input: Input<Search>) -> Result<SearchResponse, Failure> {
        let request = input.body;
        self.searches.borrow_mut().push(request);
        let result = |rank: usize| SearchResult {
            rank: rank as i64,
            doc_id: DOC,
            canonical_url: format!("https://example.com/{rank}"),
            title: (rank > 1).then(|| format!("Title {rank}\nof two lines")),
            description: None,
            snippet: None,
            mime: None,
            source_url: None,
            source_uri: None,
            index: None,
            labels: None,
            metadata: None,
            passages: None,
            provenance: None,
            score: None,
        };
        self.fail(SearchResponse {
            schema: Some("https://api.example.com/schemas/SearchResponse.json".to_owned()),
            request_id: Uuid::nil(),
            search_id: Uuid::from_u128(5),
            session_id: Uuid::nil().to_string(),
            results: Some((1..=self.results).map(result).collect()),
            access: None,
            integration_results: None,
            ranking: None,
            truncated: None,
            usage: Some(Usage { requests: 1, bytes_returned: 9 }),
            warnings: None,
        })
    }
}

impl Call<ReadDocument> for Fake {
    async fn call(&self, input: Input<ReadDocument>) -> Result<DocumentResponse, Failure> {
        let request = input.body;
        self.reads.borrow_mut().push(request);
        self.fail(self.document.borrow().clone())
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
    async fn call(&self, _: Input<ListFiles>) -> Result<FileListResponse, Failure> {
        let file = |number: usize| FileEntry {
            name: format!("file-{number}.txt"),
            size: 5,
            last_modified: "2026-01-01T00:00:00Z".to_owned(),
        };
        self.fail(FileListResponse {
            schema: None,
            request_id: Uuid::nil(),
            files: (0..self.files).map(file).collect(),
        })
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
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let Message::Request(request) = Message::parse(message.as_bytes()).unwrap() else { panic!("{message}") };
    let body = Server::new(profile).answer(request, fake).await.body();
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
