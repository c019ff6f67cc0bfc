use std::sync::Mutex;
use std::time::Duration;

use app::documents::{DocumentView, ReadOutcome, ReadRequest};
use app::feedback::FeedbackRequest;
use app::files::{FileView, PresignRequest, Presigned, RunMode, RunState, RunStats, RunView};
use app::search::{HitPassage, SearchHit, SearchOutcome, SearchRequest};
use app::usage::overview::{EndpointUsage, KeyUsage, SeriesPoint, Totals};
use app::usage::{UsageOverview, UsageRequest};
use app::{Error, Identity, Viewer};
use async_trait::async_trait;
use http_actix::{DependencyState, Service, UsageEvent};
use model::{CaptureId, Collection, DocId, OrganizationId, PassageId, SearchId, Timestamp};
use time::macros::datetime;
use uuid::Uuid;

type Answer<T> = Mutex<Box<dyn FnMut() -> Result<T, Error> + Send>>;

fn answer<T>(make: impl FnMut() -> Result<T, Error> + Send + 'static) -> Answer<T> {
    Mutex::new(Box::new(make))
}

/// A service of one organization. Answers can be replaced; what was asked is kept.
pub struct Fake {
    pub search_answer: Answer<SearchOutcome>,
    pub read_answer: Answer<ReadOutcome>,
    pub run_answer: Answer<RunView>,
    pub presign_answer: Answer<Presigned>,
    pub feedback_answer: Answer<FeedbackId>,
    pub authenticate_answer: Answer<()>,
    pub dependencies: Mutex<Vec<DependencyState>>,
    pub searches: Mutex<Vec<SearchRequest>>,
    pub reads: Mutex<Vec<ReadRequest>>,
    pub feedback: Mutex<Vec<FeedbackRequest>>,
    pub deleted: Mutex<Vec<String>>,
    pub runs: Mutex<Vec<String>>,
    pub presigned: Mutex<Vec<PresignRequest>>,
    pub usage: Mutex<Vec<UsageEvent>>,
    pub overviews: Mutex<Vec<UsageRequest>>,
    pub limit_rps: u32,
}

pub const ORGANIZATION: OrganizationId = OrganizationId(Uuid::from_u128(0x0190_a6d2_6a5c_7cc0_8c5e_0f4c_5a1b_0001));
pub const SYNC_ID: SyncId = SyncId(Uuid::from_u128(0x0190_a6d2_6a5c_7cc0_8c5e_0f4c_5a1b_0002));
pub const KEY_ID: ApiKeyId = ApiKeyId(Uuid::from_u128(0x0190_a6d2_6a5c_7cc0_8c5e_0f4c_5a1b_0004));
pub const FEEDBACK_ID: FeedbackId = FeedbackId(Uuid::from_u128(0x0190_a6d2_6a5c_7cc0_8c5e_0f4c_5a1b_0003));

impl Default for Fake {
    fn default() -> Self {
        Fake {
            search_answer: answer(|| Ok(outcome(3, 2))),
            read_answer: answer(|| Ok(read_outcome())),
            run_answer: answer(|| Ok(run())),
            presign_answer: answer(|| {
                Ok(Presigned {
                    name: "a.txt".to_owned(),
                    url: "http://storage.example/a".to_owned(),
                    expires_in_seconds: 900,
                    max_object_bytes: 104_857_600,
                })
            }),
            feedback_answer: answer(|| Ok(FEEDBACK_ID)),
            authenticate_answer: answer(|| Ok(())),
            dependencies: Mutex::default(),
            searches: Mutex::default(),
            reads: Mutex::default(),
            feedback: Mutex::default(),
            deleted: Mutex::default(),
            runs: Mutex::default(),
            presigned: Mutex::default(),
            usage: Mutex::default(),
            overviews: Mutex::default(),
            limit_rps: 100,
        }
    }
}

impl Fake {
    pub fn on_search(&self, make: impl FnMut() -> Result<SearchOutcome, Error> + Send + 'static) {
        *self.search_answer.lock().unwrap() = Box::new(make);
    }

    pub fn on_read(&self, make: impl FnMut() -> Result<ReadOutcome, Error> + Send + 'static) {
        *self.read_answer.lock().unwrap() = Box::new(make);
    }
}

#[async_trait]
impl Service for Fake {
    async fn authenticate(&self, token: &str) -> Result<Option<Viewer>, Error> {
        (self.authenticate_answer.lock().unwrap())()?;
        let scopes = match token {
            "good" => Scope::ALL.to_vec(),
            "reader" => vec![Scope::DocumentRead],
            "nobody" => vec![],
            _ => return Ok(None),
        };
        Ok(Some(Viewer {
            organization_id: ORGANIZATION,
            identity: Identity::ApiKey(ApiKeyId(Uuid::from_u128(u128::from(token.len() as u64)))),
            scopes,
            limit_rps: self.limit_rps,
            billed: false,
        }))
    }

    async fn search(&self, _: &Viewer, request: SearchRequest) -> Result<SearchOutcome, Error> {
        self.searches.lock().unwrap().push(request);
        (self.search_answer.lock().unwrap())()
    }

    async fn read_document(&self, _: &Viewer, request: ReadRequest) -> Result<ReadOutcome, Error> {
        self.reads.lock().unwrap().push(request);
        (self.read_answer.lock().unwrap())()
    }

    async fn submit_feedback(&self, _: &Viewer, request: FeedbackRequest) -> Result<FeedbackId, Error> {
        self.feedback.lock().unwrap().push(request);
        (self.feedback_answer.lock().unwrap())()
    }

    async fn presign_file(&self, _: &Viewer, request: PresignRequest) -> Result<Presigned, Error> {
        self.presigned.lock().unwrap().push(request);
        (self.presign_answer.lock().unwrap())()
    }

    async fn list_files(&self, _: &Viewer) -> Result<Vec<FileView>, Error> {
        Ok(vec![FileView { name: "a.txt".to_owned(), size: 5, last_modified: datetime!(2026-01-01 00:00 UTC) }])
    }

    async fn delete_file(&self, _: &Viewer, name: &str) -> Result<bool, Error> {
        self.deleted.lock().unwrap().push(name.to_owned());
        Ok(name.ends_with(".txt"))
    }

    async fn start_run(&self, _: &Viewer, mode: RunMode) -> Result<RunView, Error> {
        self.runs.lock().unwrap().push(format!("{mode:?}"));
        (self.run_answer.lock().unwrap())()
    }

    async fn run_status(&self, _: &Viewer, sync_id: &str) -> Result<RunView, Error> {
        self.runs.lock().unwrap().push(sync_id.to_owned());
        if sync_id == SYNC_ID.to_string() { (self.run_answer.lock().unwrap())() } else { Err(Error::SyncNotFound) }
    }

    async fn usage_overview(&self, _: &Viewer, request: UsageRequest) -> Result<UsageOverview, Error> {
        let overview = overview(&request);
        self.overviews.lock().unwrap().push(request);
        Ok(overview)
    }

    fn record_usage(&self, event: UsageEvent) {
        self.usage.lock().unwrap().push(event);
    }

    async fn readiness(&self) -> Vec<DependencyState> {
        self.dependencies.lock().unwrap().clone()
    }
}

pub fn overview(request: &UsageRequest) -> UsageOverview {
    let totals = Totals { requests: 4, errors: 1, avg_duration_ms: 2.5, p95_duration_ms: 7.25, spend_cents: 3 };
    let bucket = datetime!(2026-06-15 00:00 UTC);
    UsageOverview {
        window: request.window,
        headline: totals,
        endpoints: vec![EndpointUsage { route: "POST /v1/search".to_owned(), totals }],
        keys: vec![KeyUsage {
            api_key_id: KEY_ID,
            key_prefix: "rk_abc".to_owned(),
            name: "laptop".to_owned(),
            status: KeyState::Revoked,
            totals,
            last_used_at: None,
        }],
        latency: vec![(bucket, totals)],
        search: totals,
        series: vec![SeriesPoint {
            bucket,
            group_id: String::new(),
            group_label: String::new(),
            requests: 4,
            errors: 1,
        }],
    }
}

pub fn run() -> RunView {
    RunView {
        sync_id: SYNC_ID,
        state: RunState::Queued,
        started_at: None,
        completed_at: None,
        error: None,
        stats: RunStats::default(),
    }
}

/// A search answer with hits that have everything, in several scripts.
pub fn outcome(hits: usize, passages: usize) -> SearchOutcome {
    SearchOutcome {
        search_id: SearchId(Uuid::from_u128(7)),
        hits: (1..=hits).map(|rank| hit(rank as u32, passages)).collect(),
        ranker_version: "lexical_v1".to_owned(),
        workspace_total: Some(9),
        rerank_unavailable: false,
        filtered_results: 0,
    }
}

pub fn hit(rank: u32, passages: usize) -> SearchHit {
    let time = Timestamp::from_millis(1_767_225_600_000);
    let passage = |ordinal: u32| HitPassage {
        passage_id: PassageId(Uuid::from_u128(2000 + u128::from(ordinal))),
        ordinal,
        text: format!("Passage {ordinal} \"quoted\" — 日本語のテキスト, naïve café 🦀.\n").repeat(3),
        chars: ordinal * 100..ordinal * 100 + 99,
        section_path: if ordinal == 0 { vec![] } else { vec!["Root".to_owned(), "Überschrift".to_owned()] },
    };
    let workspace = rank == 2;
    SearchHit {
        rank,
        score: 1.0 / f64::from(rank),
        doc_id: DocId(Uuid::from_u128(1000 + u128::from(rank))),
        collection: match workspace {
            true => Collection::Workspace(OrganizationId(ORGANIZATION)),
            false => Collection::Web,
        },
        canonical_url: match workspace {
            true => format!("workspace://{ORGANIZATION}/notes.txt"),
            false => format!("https://example.com/{rank}"),
        },
        source_url: format!("https://example.com/{rank}?utm_source=x"),
        source_uri: workspace.then(|| "s3://workspace/x".to_owned()),
        title: Some(format!("Title {rank} é")),
        description: Some("A description".to_owned()),
        mime: Some("text/html".to_owned()),
        labels: if workspace { vec!["kind:txt".to_owned()] } else { vec![] },
        published_at: None,
        first_seen_at: time,
        last_seen_at: time,
        last_crawled_at: Some(time),
        capture_id: CaptureId(Uuid::from_u128(3000)),
        captured_at: time,
        content_digest: "sha256:00".to_owned(),
        snippet: format!("Snippet {rank} with sieben Wörtern und noch einigen mehr, so that a tail can go. ").repeat(2),
        passages: (0..passages as u32).map(passage).collect(),
    }
}

pub fn read_outcome() -> ReadOutcome {
    ReadOutcome {
        document: DocumentView {
            doc_id: DocId(Uuid::from_u128(1001)),
            canonical_url: "https://example.com/1".to_owned(),
            source_url: "https://example.com/1#top".to_owned(),
            title: Some("Title".to_owned()),
            meta_description: None,
            headings: vec![],
            content_digest: None,
            latest_capture_id: None,
            published_at: None,
            first_seen_at: datetime!(2026-01-01 00:00 UTC),
            last_seen_at: datetime!(2026-01-02 00:00 UTC),
        },
        content: None,
        passages: None,
        capture_history: None,
        capture: None,
        warnings: vec![],
    }
}

pub fn dependency(name: &'static str, required: bool, up: bool) -> DependencyState {
    DependencyState { name, required, up, latency: Duration::from_micros(1500), detail: None }
}
