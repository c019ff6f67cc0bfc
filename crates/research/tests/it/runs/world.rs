use std::sync::Arc;
use std::time::Duration;

use app::documents::{ContentFormat, Include, ReadRequest, Selection, Target};
use app::web::WebPage;
use model::{Clock, ResearchId, SessionId};
use models::generation::Generator;
use research::engine::{Budget, Depth, OutputSpec};
use research::{NewRun, Options, Parts, Research, RunEvent, RunView};
use test_support::{Setup, Tenant, TestApp, page, runtime, search, until};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub const QUESTION: &str = "Which grease does the X200 pump take, and how often is the seal replaced?";

/// An application with a few pages, and an organization.
pub struct World {
    pub app: TestApp,
    pub tenant: Tenant,
}

pub fn pages() -> Vec<WebPage> {
    let texts = [
        (
            "https://pumps.example/x200",
            "# X200\n\nThe X200 pump takes lithium grease of class NLGI 2 at both bearings.\n\nThe seal of the X200 pump is replaced every 4,000 hours of operation.\n",
        ),
        (
            "https://service.example/seals",
            "# Seals\n\nWorkshops replace the seal of the X200 pump once a year, which is about every 4,000 hours.\n",
        ),
        (
            "https://forum.example/grease",
            "# Grease\n\nSome owners use calcium grease for the X200 pump in wet rooms, against the advice of its maker.\n",
        ),
        ("https://other.example/tea", "# Tea\n\nGreen tea is brewed at seventy degrees for two minutes.\n"),
    ];
    texts
        .into_iter()
        .map(|(url, text)| WebPage { title: Some(url.to_owned()), language: Some("en".to_owned()), ..page(url, text) })
        .collect()
}

impl World {
    pub async fn new() -> Self {
        Self::with(Setup::default()).await
    }

    pub async fn with(setup: Setup) -> Self {
        let app = TestApp::with(setup).await;
        let tenant = app.tenant().await;
        app.import(pages()).await;
        Self { app, tenant }
    }

    pub async fn with_model(generator: Arc<dyn Generator>) -> Self {
        Self::with(Setup { generator: Some(generator), ..Setup::default() }).await
    }

    pub async fn create(&self, new: NewRun) -> ResearchId {
        self.app.research.create(&self.tenant.viewer, new).await.unwrap().run.research_id
    }

    pub async fn get(&self, id: ResearchId) -> RunView {
        self.app.research.get(&self.tenant.viewer, id).await.unwrap()
    }

    /// Returns the run once it has ended.
    pub async fn ended(&self, id: ResearchId) -> RunView {
        until("the end of the run", async || {
            let run = self.get(id).await;
            run.status.is_terminal().then_some(run)
        })
        .await
    }

    /// Creates a run and executes it to its end.
    pub async fn run(&self, new: NewRun) -> RunView {
        let id = self.create(new).await;
        let _working = self.app.work_on_research();
        self.ended(id).await
    }

    pub async fn events(&self, id: ResearchId) -> Vec<RunEvent> {
        self.app.research.events(&self.tenant.viewer, id, 0, 10_000).await.unwrap()
    }

    /// Another process on the same database and index.
    pub fn another(&self) -> Arc<Research> {
        Arc::new(Research::new(Parts {
            app: Arc::clone(&self.app.app),
            store: self.app.store.clone(),
            clock: Arc::clone(&self.app.clock) as Arc<dyn Clock>,
            timer: Arc::clone(&self.app.clock) as Arc<dyn Clock>,
            generator: None,
            webhooks: sender(),
            options: options(),
        }))
    }

    /// Checks that every citation of a report is what a reader of the document gets.
    pub async fn verify(&self, run: &RunView) {
        let report = run.report.as_ref().unwrap();
        for citation in &report.citations {
            let request = ReadRequest {
                target: Target::DocId(citation.doc_id),
                capture_id: Some(citation.capture_id),
                include: Include::ALL,
                query: None,
                selection: Selection::FullDocument,
                format: ContentFormat::Markdown,
                max_chars: None,
                include_offsets: true,
                passage_ids: Vec::new(),
                range: None,
                max_passages: None,
                whole_page: false,
                max_age: None,
                cache_only: true,
                deadline: app::Deadline::default(),
            };
            let read = self.app.app.read_document(&self.tenant.viewer, request).await.unwrap();
            assert_eq!(read.capture.unwrap().capture_id, citation.capture_id);
            let text: Vec<char> = read.content.unwrap().text.chars().collect();
            let quoted: String = text[citation.char_start..citation.char_end].iter().collect();
            assert_eq!(quoted, citation.quote);
            assert!(citation.verified);
        }
    }
}

pub fn options() -> Options {
    Options { poll: Duration::from_millis(50), runs_per_organization: 50, ..Options::default() }
}

fn sender() -> Arc<::webhooks::Sender> {
    let options = ::webhooks::SenderOptions {
        user_agent: "test".to_owned(),
        allow_networks: Vec::new(),
        timeout: Duration::from_secs(1),
    };
    Arc::new(::webhooks::Sender::new(options).unwrap())
}

/// A quick run over the web.
pub fn quick(query: &str) -> NewRun {
    NewRun {
        query: query.to_owned(),
        depth: Depth::Quick,
        instructions: None,
        output: OutputSpec::default(),
        budget: Budget::of(Depth::Quick),
        previous: None,
        search: search(query),
        session_id: SessionId(Uuid::new_v4()),
        metadata: serde_json::Map::new(),
        webhook: None,
    }
}

/// A standard run over the web.
pub fn standard(query: &str) -> NewRun {
    NewRun { depth: Depth::Standard, budget: Budget::of(Depth::Standard), ..quick(query) }
}

/// A process that a test can kill.
pub struct Worker {
    task: JoinHandle<()>,
}

impl Worker {
    pub fn start(research: &Arc<Research>) -> Self {
        Self { task: runtime().spawn(Arc::clone(research).work(CancellationToken::new())) }
    }

    /// Stops it in the middle of whatever it does, without releasing anything.
    pub async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

pub fn kinds(events: &[RunEvent]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    kinds.dedup();
    kinds
}

/// Checks that events are numbered from 1 without gaps, and that only the last one ends the run.
pub fn check_sequence(events: &[RunEvent]) {
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.sequence, at as i64 + 1);
        assert_eq!(event.is_last(), at + 1 == events.len(), "{}", event.kind);
    }
}
