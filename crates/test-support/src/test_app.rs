use std::sync::Arc;
use std::time::Duration;

use admission::Compute;
use app::authentication::TokenVerifier;
use app::disk::FreeSpace;
use app::documents::CaptureLifetimes;
use app::readiness::HostCheck;
use app::search::SecondStage;
use app::search::providers::WebSources;
use app::{App, Options, Parts, ReadLimits, Retention, ShareLimits};
use blobs::BlobStore;
use docstore::Docstore;
use engine::SearchEngine;
use extract_worker::InProcess;
use fetcher::{Fetcher, FetcherOptions, Politeness};
use ingest::{Feeder, Ownership, PageReader, PageReaderOptions, Runner, RunnerOptions, Scripted, Supervisor};
use model::Clock;
use models::embedding::Embedder;
use models::generation::Generator;
use rate_limit::{MemoryLimiter, RateLimiter};
use research::Research;
use tokio_util::sync::{CancellationToken, DropGuard};
use webhooks::{Sender, SenderOptions};

use crate::{Database, TestBlobs, TestClock, TestEngine, runtime};

/// Options and seams that a test replaces before the application starts.
pub struct Setup {
    pub options: Options,
    /// `false`: the deployment has no search index.
    pub retrieval: bool,
    pub second_stage: SecondStage,
    pub embedder: Option<Arc<dyn Embedder>>,
    pub web: WebSources,
    pub limiter: Arc<dyn RateLimiter>,
    pub tokens: Option<Arc<dyn TokenVerifier>>,
    pub clock: Arc<TestClock>,
    /// Time for which an unreadable page is not fetched again.
    pub failure_ttl: Duration,
    pub host_checks: Vec<HostCheck>,
    pub free_space: Arc<FreeSpace>,
    pub supervisor: Supervisor,
    /// Refunds, deletions and retention.
    pub upkeep: bool,
    pub generator: Option<Arc<dyn Generator>>,
    pub research: research::Options,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            options: Options {
                default_rps: 100,
                search_cents: 1,
                max_object_bytes: 1 << 20,
                max_files_per_organization: 100,
                max_bytes_per_organization: None,
                presign_lifetime: Duration::from_mins(15),
                engine_timeout: Duration::from_secs(10),
                capture_lifetimes: CaptureLifetimes {
                    snippet: Duration::from_mins(15),
                    document: Duration::from_hours(24),
                },
                usage_retention: Duration::from_hours(24),
                read_limits: ReadLimits::default(),
                retention: Retention { evidence: Duration::from_hours(30 * 24), ..Retention::default() },
                request_timeout: Duration::from_secs(60),
                shares: ShareLimits::for_cores(2),
                max_crawl_urls: 10_000,
            },
            retrieval: true,
            second_stage: SecondStage::Lexical,
            embedder: None,
            web: WebSources::default(),
            limiter: Arc::new(MemoryLimiter::new()),
            tokens: None,
            clock: Arc::default(),
            failure_ttl: Duration::from_mins(10),
            host_checks: Vec::new(),
            free_space: Arc::new(FreeSpace::unlimited()),
            supervisor: Supervisor::default(),
            upkeep: true,
            generator: None,
            research: research::Options { poll: Duration::from_millis(100), ..research::Options::default() },
        }
    }
}

/// The application under test and its parts.
pub struct TestApp {
    pub app: Arc<App>,
    /// Executes no run before [`TestApp::work_on_research`].
    pub research: Arc<Research>,
    pub store: Docstore,
    pub engine: Arc<TestEngine>,
    pub blobs: Arc<TestBlobs>,
    pub feeder: Arc<Feeder>,
    pub runner: Arc<Runner>,
    pub limiter: Arc<dyn RateLimiter>,
    pub clock: Arc<TestClock>,
    pub database: Arc<Database>,
}

impl TestApp {
    pub async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    pub async fn with(setup: Setup) -> Self {
        Self::on(Arc::new(Database::new().await), setup)
    }

    /// An instance on a database that exists, with an index, a bucket and caches of its own.
    pub fn on(database: Arc<Database>, setup: Setup) -> Self {
        // The application works on the runtime that it is made on.
        let _entered = runtime().enter();
        let store = database.open();
        let engine = Arc::new(TestEngine::default());
        let blobs = Arc::new(TestBlobs::default());
        let clock = Arc::clone(&setup.clock) as Arc<dyn Clock>;
        let shared = Arc::clone(&engine) as Arc<dyn SearchEngine>;
        let feeder = Arc::new(Feeder::new(store.clone(), shared, Ownership::Exclusive, Arc::clone(&clock)));
        let runner = Arc::new(runner(&store, &blobs, &feeder, &database, Arc::clone(&clock)));
        let limiter = Arc::clone(&setup.limiter);
        let sender = Arc::new(webhooks());
        let app = App::new(Parts {
            store: store.clone(),
            blobs: Arc::clone(&blobs) as Arc<dyn BlobStore>,
            engine: setup.retrieval.then(|| Arc::clone(&engine) as Arc<dyn SearchEngine>),
            feeder: setup.retrieval.then(|| Arc::clone(&feeder)),
            runner: Some(Arc::clone(&runner)),
            pages: Arc::new(pages(&store, setup.failure_ttl, &setup.free_space, Arc::clone(&clock))),
            second_stage: setup.second_stage,
            embedder: setup.embedder.clone(),
            web: setup.web,
            limiter: setup.limiter,
            tokens: setup.tokens,
            webhooks: Arc::clone(&sender),
            host_checks: setup.host_checks,
            free_space: setup.free_space,
            supervisor: setup.supervisor,
            upkeep: setup.upkeep,
            clock: Arc::clone(&clock),
            options: setup.options,
        });
        let app = Arc::new(app);
        let research = Research::new(research::Parts {
            app: Arc::clone(&app),
            store: store.clone(),
            timer: Arc::clone(&clock),
            clock,
            generator: setup.generator,
            webhooks: sender,
            options: setup.research,
        });
        Self {
            app,
            research: Arc::new(research),
            store,
            engine,
            blobs,
            feeder,
            runner,
            limiter,
            clock: setup.clock,
            database,
        }
    }

    /// Executes research runs until the returned guard is dropped.
    pub fn work_on_research(&self) -> DropGuard {
        let stop = CancellationToken::new();
        runtime().spawn(Arc::clone(&self.research).work(stop.clone()));
        stop.drop_guard()
    }

    /// Drops every table, so that each query fails from now on.
    pub async fn break_database(&self) {
        self.store.revert_all_migrations().await.unwrap();
    }
}

fn runner(
    store: &Docstore,
    blobs: &Arc<TestBlobs>,
    feeder: &Arc<Feeder>,
    database: &Database,
    clock: Arc<dyn Clock>,
) -> Runner {
    let options = RunnerOptions {
        compute: Compute::interactive(2),
        parallel_files: 4,
        parallel_runs: 4,
        max_bytes_in_progress: 16 << 20,
        max_object_bytes: 1 << 20,
        temp_dir: database.folder().to_owned(),
        is_full: Arc::new(|| false),
        lease: Duration::from_secs(15),
        retry_timeout: Duration::from_secs(20),
        clock,
    };
    let blobs = Arc::clone(blobs) as Arc<dyn BlobStore>;
    Runner::new(store.clone(), blobs, Arc::new(InProcess), Arc::clone(feeder), options)
}

/// Sends events to targets on loopback.
fn webhooks() -> Sender {
    let options = SenderOptions {
        user_agent: "test".to_owned(),
        allow_networks: vec!["127.0.0.0/8".parse().unwrap()],
        timeout: Duration::from_secs(10),
    };
    Sender::new(options).unwrap()
}

/// Reads pages of sites on loopback, without robots.txt and pauses between requests.
fn pages(store: &Docstore, failure_ttl: Duration, free_space: &Arc<FreeSpace>, clock: Arc<dyn Clock>) -> PageReader {
    let free_space = Arc::clone(free_space);
    let fetcher = Fetcher::new(FetcherOptions {
        respect_robots: false,
        allow_networks: vec!["127.0.0.0/8".parse().unwrap()],
        politeness: Politeness { concurrent: 8, delay: Duration::ZERO, ..Politeness::default() },
        ..FetcherOptions::new("test", "1.0", None)
    });
    let options = PageReaderOptions {
        compute: Compute::interactive(2),
        long_compute: Compute::background(1),
        is_full: Arc::new(move || free_space.is_low()),
        scripted: Scripted::default(),
        extract_timeout: Duration::from_secs(10),
        failure_ttl,
        clock,
    };
    PageReader::new(store.clone(), fetcher.unwrap(), Arc::new(InProcess), options)
}
