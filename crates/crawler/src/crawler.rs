//! Work on the frontier: any number of instances, each on several hosts at a time.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docstore::{Docstore, StoreError};
use extract_worker::Extractor;
use fetcher::Fetcher;
use ingest::Scripted;
use metrics::{counter, gauge};
use model::{Clock, CrawlId, CrawlUrlState};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::options::CrawlerOptions;
use crate::plan::Plan;
use crate::revisit::Bounds;
use crate::session::{self, Session};
use crate::visitor::Visitor;

/// Candidates of one claim: other instances may take the first ones.
const CANDIDATES: i64 = 16;
/// Interval of the work on crawls as a whole.
const UPKEEP: Duration = Duration::from_secs(2);
/// Interval of looking for schedules that a change of the clock has spoiled.
const REPAIR: Duration = Duration::from_secs(60);
/// Pause after a failure of the database.
const RETRY: Duration = Duration::from_secs(1);
/// URLs that are settled in one transaction.
const SETTLED_AT_A_TIME: i64 = 2_000;
/// Longest time that a retry is planned ahead.
const LONGEST_RETRY: Duration = Duration::from_hours(25);

/// Check that tells if there is no room for more pages.
pub type IsFull = Arc<dyn Fn() -> bool + Send + Sync>;

/// Instance that works on crawls.
pub struct Crawler {
    store: Docstore,
    visitor: Arc<Visitor>,
    clock: Arc<dyn Clock>,
    is_full: IsFull,
    options: CrawlerOptions,
    /// Owner of the leases.
    owner: String,
    /// The only crawl to work on.
    only: Option<CrawlId>,
    /// Hosts that this instance visits. A change of the clock may have ended their leases.
    visited: Arc<Mutex<HashSet<String>>>,
}

/// Host that is visited, until dropped.
struct Visited {
    host: String,
    all: Arc<Mutex<HashSet<String>>>,
}

impl Drop for Visited {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.host);
    }
}

/// Parts that a crawler works with.
pub struct CrawlerParts {
    pub store: Docstore,
    pub fetcher: Fetcher,
    pub extractor: Arc<dyn Extractor>,
    pub scripted: Scripted,
    pub clock: Arc<dyn Clock>,
    pub is_full: IsFull,
    /// Name of the program in robots.txt and in directives of pages.
    pub token: String,
    /// Unique name of this instance.
    pub owner: String,
    pub only: Option<CrawlId>,
}

/// Makes the metrics of crawls known to the first scrape.
pub fn register_metrics() {
    for state in CrawlUrlState::ALL {
        counter!("retrieval_crawl_pages_total", "outcome" => session::outcome_name(*state)).increment(0);
    }
    counter!("retrieval_crawl_back_offs_total").increment(0);
    gauge!("retrieval_crawl_queue").set(0.0);
}

impl Crawler {
    pub fn new(parts: CrawlerParts, options: CrawlerOptions) -> Self {
        let CrawlerParts { store, fetcher, extractor, scripted, clock, is_full, token, owner, only } = parts;
        let visitor = Arc::new(Visitor::new(fetcher, extractor, scripted, token));
        Self { store, visitor, clock, is_full, options, owner, only, visited: Arc::default() }
    }

    /// Works on crawls until `stop`, then releases its hosts.
    pub async fn work(self: Arc<Self>, stop: CancellationToken) {
        let permits = Arc::new(Semaphore::new(self.options.hosts_at_a_time.max(1)));
        let mut sessions = JoinSet::new();
        let (mut upkeep, mut repair): (Option<Instant>, Option<Instant>) = (None, None);
        let _heartbeat = AbortOnDropHandle::new(tokio::spawn(Arc::clone(&self).keep_leases()));
        while !stop.is_cancelled() {
            while sessions.try_join_next().is_some() {}
            if upkeep.is_none_or(|last| last.elapsed() >= UPKEEP) {
                upkeep = Some(Instant::now());
                self.report(self.keep_up().await);
            }
            if repair.is_none_or(|last| last.elapsed() >= REPAIR) {
                repair = Some(Instant::now());
                self.report(self.repair_schedules().await);
            }
            let free = tokio::select! {
                () = stop.cancelled() => break,
                free = Arc::clone(&permits).acquire_owned() => free,
            };
            let Ok(permit) = free else { break };
            let claimed = if (self.is_full)() { Ok(None) } else { self.claim().await };
            let pause = match claimed {
                Ok(Some(host)) => {
                    let session = self.session(stop.clone());
                    let visited = self.visit(&host.host);
                    sessions.spawn(async move {
                        session.serve(host).await;
                        drop((visited, permit));
                    });
                    continue;
                }
                Ok(None) => self.options.poll,
                Err(error) => {
                    self.report(Err(error));
                    RETRY
                }
            };
            drop(permit);
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(pause) => {}
            }
        }
        while sessions.join_next().await.is_some() {}
    }

    fn session(&self, stop: CancellationToken) -> Session {
        Session {
            store: self.store.clone(),
            visitor: Arc::clone(&self.visitor),
            clock: Arc::clone(&self.clock),
            owner: self.owner.clone(),
            only: self.only,
            options: self.options,
            stop,
        }
    }

    async fn claim(&self) -> Result<Option<docstore::CrawlHost>, StoreError> {
        let now = self.clock.now();
        for host in self.store.list_due_crawl_hosts(self.only, now, CANDIDATES).await? {
            if self.visited().contains(&host) {
                continue;
            }
            let lease = now + self.options.lease;
            let claimed = self.store.claim_crawl_host(host, self.owner.clone(), now, lease).await?;
            if claimed.is_some() {
                return Ok(claimed);
            }
        }
        Ok(None)
    }

    fn visit(&self, host: &str) -> Visited {
        self.visited().insert(host.to_owned());
        Visited { host: host.to_owned(), all: Arc::clone(&self.visited) }
    }

    fn visited(&self) -> MutexGuard<'_, HashSet<String>> {
        self.visited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Extends the leases of the visited hosts, since one visit may take longer than a lease. A lease without a session expires: the
    /// database was away when it was to be released, or when its claim was answered.
    async fn keep_leases(self: Arc<Self>) {
        loop {
            tokio::time::sleep(self.options.lease / 3).await;
            let visited: Vec<String> = self.visited().iter().cloned().collect();
            let lease = self.clock.now() + self.options.lease;
            self.report(self.store.extend_crawl_leases(self.owner.clone(), visited, lease).await.map(drop));
        }
    }

    /// Ends full crawls and measures the frontier.
    async fn keep_up(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        for crawl_id in self.store.list_full_crawls().await? {
            let outcome = || (CrawlUrlState::Skipped, "limit".to_owned());
            while self.store.settle_queued(crawl_id, None, outcome(), None, SETTLED_AT_A_TIME, now).await? > 0 {}
        }
        let totals = self.store.frontier_totals().await?;
        gauge!("retrieval_crawl_queue").set(totals.queued as f64);
        Ok(())
    }

    /// Makes visits due that are planned for later than anyone can have planned them.
    async fn repair_schedules(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        for crawl in self.store.list_crawls().await? {
            // A newer version wrote a plan that cannot be read: its interval is not known here.
            let Some(plan) = Plan::of(&crawl) else { continue };
            let longest = plan.every().map_or(LONGEST_RETRY, |every| Bounds::new(every).longest().max(LONGEST_RETRY));
            let changed = self.store.reschedule_crawl(crawl.crawl_id, longest, now).await?;
            if changed > 0 {
                tracing::warn!(
                    crawl = crawl.name,
                    urls = changed,
                    "visits of a crawl are due again: the clock was set back"
                );
            }
        }
        Ok(())
    }

    fn report(&self, outcome: Result<(), StoreError>) {
        if let Err(error) = outcome {
            tracing::warn!(error = %error, "crawls wait for the database");
        }
    }
}
