//! Test environment: a docstore, a clock, and instances of the crawler.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crawler::{Crawler, CrawlerOptions, CrawlerParts, NewCrawl, PaceLimits, Plan};
use docstore::{Crawl, Docstore, Location};
use extract_worker::{Extractor, InProcess};
use fetcher::{Fetcher, FetcherOptions, Renderer, TimeLimits};
use ingest::Scripted;
use model::{Clock, ManualClock, SystemClock};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub const LEASE: Duration = Duration::from_secs(15);
const DEADLINE: Duration = Duration::from_secs(60);

pub struct World {
    pub store: Docstore,
    pub clock: Arc<ManualClock>,
    /// Renderer of instances that start from now on.
    pub renderer: Option<Arc<dyn Renderer>>,
    /// Reader of documents of instances that start from now on.
    pub extractor: Arc<dyn Extractor>,
    _folder: tempfile::TempDir,
}

/// Instance of the crawler.
pub struct Instance {
    pub stop: CancellationToken,
    pub task: JoinHandle<()>,
}

impl Instance {
    /// Stops like SIGTERM.
    pub async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// Stops like SIGKILL: the leases stay until they expire.
    pub async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

impl World {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Docstore::open(&Location::Sqlite(folder.path().join("test.db")), 4).unwrap();
        store.migrate().await.unwrap();
        let clock = Arc::new(ManualClock::starting_at(SystemClock.now()));
        Self { store, clock, renderer: None, extractor: Arc::new(InProcess), _folder: folder }
    }

    /// Starts an instance that may visit loopback.
    pub fn instance(&self) -> Instance {
        self.instance_with(|_| {})
    }

    /// Starts an instance with this name and lease.
    pub fn instance_of(&self, owner: &str, lease: Duration) -> Instance {
        self.start_instance(owner.to_owned(), lease, |_| {})
    }

    pub fn instance_with(&self, change: impl FnOnce(&mut FetcherOptions)) -> Instance {
        self.start_instance(Uuid::new_v4().to_string(), LEASE, change)
    }

    fn start_instance(&self, owner: String, lease: Duration, change: impl FnOnce(&mut FetcherOptions)) -> Instance {
        let mut options = FetcherOptions::new("testbot", "1.0", None);
        options.allow_networks = vec!["127.0.0.0/8".parse().unwrap()];
        options.max_bytes = 1 << 20;
        let seconds = Duration::from_secs;
        options.time_limits =
            TimeLimits { connect: seconds(2), first_byte: seconds(2), total: seconds(3), wait: seconds(2) };
        change(&mut options);
        let parts = CrawlerParts {
            store: self.store.clone(),
            fetcher: Fetcher::new(options).unwrap(),
            extractor: Arc::clone(&self.extractor),
            scripted: Scripted::new(self.renderer.clone()),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            is_full: Arc::new(|| false),
            token: "testbot".to_owned(),
            owner,
            only: None,
        };
        let options = CrawlerOptions {
            hosts_at_a_time: 8,
            pace: PaceLimits {
                min_delay: Duration::from_millis(1),
                max_delay: Duration::from_millis(20),
                max_crawl_delay: Duration::from_secs(60),
                max_back_off: Duration::from_secs(300),
            },
            lease,
            poll: Duration::from_millis(10),
        };
        let stop = CancellationToken::new();
        let task = tokio::spawn(Arc::new(Crawler::new(parts, options)).work(stop.clone()));
        Instance { stop, task }
    }

    /// Starts a crawl, or a new round.
    pub async fn start(&self, name: &str, plan: Plan) -> Crawl {
        self.start_with_limit(name, plan, None).await
    }

    pub async fn start_with_limit(&self, name: &str, plan: Plan, page_limit: Option<u64>) -> Crawl {
        self.start_with_limits(name, plan, page_limit, 100_000).await
    }

    pub async fn start_with_limits(&self, name: &str, plan: Plan, page_limit: Option<u64>, url_limit: u64) -> Crawl {
        let plan = plan.checked().unwrap();
        let new = NewCrawl { name: name.to_owned(), plan, page_limit, url_limit };
        crawler::start(&self.store, new, self.clock.now(), None).await.unwrap()
    }

    pub async fn crawl(&self, name: &str) -> Crawl {
        self.store.find_crawl(name.to_owned()).await.unwrap().unwrap()
    }

    /// Waits for the end of the current round. Pauses longer than a second pass at once.
    pub async fn finish(&self, name: &str) -> Crawl {
        let started = Instant::now();
        let mut idle = 0;
        let mut last = (0, 0);
        loop {
            let crawl = self.crawl(name).await;
            if crawl.queued == 0 {
                return crawl;
            }
            assert!(started.elapsed() < DEADLINE, "the crawl does not end: {crawl:?} {:?}", self.outcomes(name).await);
            // Nothing has happened for some time: back-off or an expired lease.
            idle = if last == (crawl.urls, crawl.queued) { idle + 1 } else { 0 };
            last = (crawl.urls, crawl.queued);
            if idle > 20 {
                self.clock.advance(Duration::from_secs(20));
                idle = 0;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Crawls with one instance to the end of the round.
    pub async fn run(&self, name: &str, plan: Plan) -> Crawl {
        self.start(name, plan).await;
        let instance = self.instance();
        let crawl = self.finish(name).await;
        instance.stop().await;
        crawl
    }

    /// Returns the counts by kind and reason, such as `failed/http_500`.
    pub async fn outcomes(&self, name: &str) -> BTreeMap<String, i64> {
        let crawl = self.crawl(name).await;
        let counts = self.store.list_crawl_counts(crawl.crawl_id).await.unwrap();
        let key =
            |kind: &str, reason: &str| if reason.is_empty() { kind.to_owned() } else { format!("{kind}/{reason}") };
        counts.into_iter().map(|count| (key(&count.kind, &count.reason), count.count)).collect()
    }

    /// Returns the paths of all listed pages, sorted.
    pub async fn listed(&self) -> Vec<String> {
        let pages = self.store.list_web_pages(None, None, 100_000).await.unwrap();
        let mut paths: Vec<String> = pages.into_iter().map(|page| path_of(&page.url).to_owned()).collect();
        paths.sort();
        paths
    }
}

pub fn path_of(url: &str) -> &str {
    let authority = url.find("://").unwrap() + 3;
    url[authority..].find('/').map_or("/", |at| &url[authority + at..])
}

pub fn plan(seeds: &[String]) -> Plan {
    Plan { seeds: seeds.to_vec(), ..Plan::default() }
}
