//! Visits to one host, one after the other, under its lease.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use docstore::{CrawlHost, CrawlUrl, CrawlVisit, Docstore, DueUrls, HostVisit, Recorded, StoreError};
use metrics::counter;
use model::{Clock, CrawlId, CrawlUrlKind, CrawlUrlState, DocId, Timestamp};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::options::{CrawlerOptions, limits};
use crate::pace::{MAX_WAIT, Pace};
use crate::plan::Plan;
use crate::scope::Scope;
use crate::start::SINGLE_PAGES;
use crate::visitor::{Context, Known, Outcome, Visitor};

/// Visits after which other hosts have their turn.
const MAX_VISITS: usize = 100;
/// Time after which other hosts have their turn.
const MAX_TIME: Duration = Duration::from_secs(30);
/// URLs of each crawl that are read from the frontier at a time.
const BATCH: i64 = 20;
/// Links that join the frontier in one transaction.
const LINKS_AT_A_TIME: usize = 2_000;
/// Failures in a row after which the rest of a host is given up.
const MAX_FAILURES: i32 = 8;
/// Time for which a host is left to instances that can read the plans of its crawls.
const UNREADABLE_REST: Duration = Duration::from_secs(60);
/// URLs that are given up in one transaction.
const GIVEN_UP_AT_A_TIME: i64 = 1_000;

/// Worker on the URLs of one host.
pub struct Session {
    pub store: Docstore,
    pub visitor: Arc<Visitor>,
    pub clock: Arc<dyn Clock>,
    pub owner: String,
    pub only: Option<CrawlId>,
    pub options: CrawlerOptions,
    pub stop: CancellationToken,
}

/// Consequence of one visit for the session.
enum Next {
    Continue,
    /// Releases the host.
    End,
    /// Releases the host, whose URLs are due for crawls of a newer version only.
    Unreadable,
    /// Releases the host, which has had a request that nothing records, and leaves it alone for this time.
    Interrupted(Duration),
    /// Another worker has the host.
    Lost,
}

impl Session {
    /// Visits due URLs of the host until its turn ends, and releases it.
    pub async fn serve(&self, host: CrawlHost) {
        let name = host.host.clone();
        let outcome = self.visit_host(host).await;
        if let Err(error) = &outcome {
            tracing::warn!(host = name, error = %error, "a crawl was interrupted by the database");
        }
        let rest = match outcome {
            Ok(Next::Unreadable) => Some(UNREADABLE_REST),
            Ok(Next::Interrupted(pause)) => Some(pause),
            Ok(Next::Continue | Next::End | Next::Lost) | Err(_) => None,
        };
        let rest_until = rest.map(|rest| self.clock.now() + rest);
        if !matches!(outcome, Ok(Next::Lost))
            && let Err(error) = self.store.release_crawl_host(name.clone(), self.owner.clone(), rest_until).await
        {
            tracing::warn!(host = name, error = %error, "the lease of a crawled host could not be released");
        }
    }

    async fn visit_host(&self, host: CrawlHost) -> Result<Next, StoreError> {
        let started = Instant::now();
        let mut pace = Pace {
            limits: self.options.pace,
            response: Duration::from_millis(u64::try_from(host.response_millis).unwrap_or(0)),
            crawl_delay: None,
            failures: host.failures,
            is_public: true,
        };
        let mut visits = 0;
        loop {
            let due = self.store.next_crawl_urls(host.host.clone(), self.only, self.clock.now(), BATCH).await?;
            if due.is_empty() {
                self.store.refresh_crawl_queues(host.host.clone()).await?;
                return Ok(Next::End);
            }
            let ids = due.iter().flat_map(|due| due.urls.iter().map(|url| url.url_id)).collect();
            let mut contents = self.listed_contents(ids).await?;
            let mut visited = HashSet::new();
            let (contexts, urls) = in_turns(due);
            if urls.is_empty() {
                return Ok(Next::Unreadable);
            }
            for url in urls {
                let Some(context) = contexts.get(&url.crawl_id) else { continue };
                if !visited.insert(url.url_id) {
                    // The visit for another crawl may have listed, changed or removed the page.
                    contents.remove(&url.url_id);
                    contents.extend(self.listed_contents(vec![url.url_id]).await?);
                }
                let content = contents.get(&url.url_id);
                let known = Known {
                    is_listed: content.is_some(),
                    is_current: url.kind == CrawlUrlKind::Sitemap
                        || (content.is_some() && content == url.content_digest.as_ref()),
                };
                let (next, pause) = self.visit_url(context, url, known, &mut pace).await?;
                visits += 1;
                if !matches!(next, Next::Continue) {
                    return Ok(next);
                }
                if pause > MAX_WAIT || visits >= MAX_VISITS || started.elapsed() > MAX_TIME {
                    return Ok(Next::End);
                }
                tokio::select! {
                    () = self.stop.cancelled() => return Ok(Next::End),
                    () = tokio::time::sleep(pause) => {}
                }
            }
        }
    }

    /// Returns the digests of the contents in the index. A conditional request needs them to be the ones that were read.
    async fn listed_contents(&self, ids: Vec<DocId>) -> Result<HashMap<DocId, String>, StoreError> {
        Ok(self.store.list_valid_digests(ids).await?.into_iter().collect())
    }

    async fn visit_url(
        &self,
        context: &Context,
        url: CrawlUrl,
        known: Known,
        pace: &mut Pace,
    ) -> Result<(Next, Duration), StoreError> {
        // Taken before the request: the content is at least as new.
        let now = self.clock.now();
        let outcome = tokio::select! {
            // What was read is lost, and read again by whoever has the host next.
            () = self.stop.cancelled() => {
                let pause = pace.delay();
                return Ok((Next::Interrupted(pause), pause));
            }
            outcome = self.visitor.visit(context, &url, known, pace, now) => outcome,
        };
        // From here on nothing is interrupted: the database would complete a visit that this instance has given up.
        let Outcome { url, change, canonical, next_if_unchanged, links, skipped, turn, pause, is_unreachable } =
            outcome;
        // Kept until the links are stored.
        let _turn = turn;
        let (crawl_id, limits) = (url.crawl_id, limits(&context.plan));
        // The rest is added with the outcome, so that an interrupted list is read again.
        let mut links = links.into_iter();
        while links.len() > LINKS_AT_A_TIME {
            let part = links.by_ref().take(LINKS_AT_A_TIME).collect();
            if !self.store.add_crawl_urls(crawl_id, part, Vec::new(), limits, self.clock.now()).await? {
                return Ok((Next::End, pause));
            }
        }
        let now = self.clock.now();
        let (host, kind) = (url.host.clone(), url.kind);
        let links = links.collect();
        let visit = CrawlVisit {
            settings: context.settings.clone(),
            url,
            change,
            canonical,
            next_if_unchanged,
            links,
            skipped,
            host: self.host_visit(pace, pause, now),
        };
        let recorded = self.store.record_crawl_visit(visit, self.owner.clone(), limits, now).await?;
        if pace.failures > 0 {
            counter!("retrieval_crawl_back_offs_total").increment(1);
        }
        match recorded {
            Recorded::Lost => Ok((Next::Lost, pause)),
            // The other URLs were loaded with the former plan, too.
            Recorded::Outdated => Ok((Next::End, pause)),
            Recorded::Done { state, reason, is_running } => {
                if kind == CrawlUrlKind::Page {
                    counter!("retrieval_crawl_pages_total", "outcome" => outcome_name(state)).increment(1);
                }
                tracing::debug!(host, state = state.as_str(), reason, "visited a page of a crawl");
                if is_unreachable && pace.failures >= MAX_FAILURES {
                    self.give_up(crawl_id, &host, context.plan.every()).await?;
                    // The other URLs were loaded before they were given up.
                    return Ok((Next::End, pause));
                }
                Ok((if is_running { Next::Continue } else { Next::End }, pause))
            }
        }
    }

    fn host_visit(&self, pace: &Pace, pause: Duration, now: Timestamp) -> HostVisit {
        HostVisit {
            next_request_at: now + pause,
            response_millis: i64::try_from(pace.response.as_millis()).unwrap_or(i64::MAX),
            failures: pace.failures,
            lease_expires_at: now + self.options.lease,
        }
    }

    /// Gives up the URLs of a host that does not respond, until the next round or their next interval. Known pages stay as they
    /// are.
    async fn give_up(&self, crawl_id: CrawlId, host: &str, every: Option<Duration>) -> Result<(), StoreError> {
        let outcome = || (CrawlUrlState::Failed, "host_unreachable".to_owned());
        let mut given_up = 1;
        while given_up > 0 {
            let host = Some(host.to_owned());
            let now = self.clock.now();
            let next_at = every.map(|every| now + every);
            given_up = self.store.settle_queued(crawl_id, host, outcome(), next_at, GIVEN_UP_AT_A_TIME, now).await?;
        }
        Ok(())
    }
}

/// Name of an outcome in the metrics.
pub fn outcome_name(state: CrawlUrlState) -> &'static str {
    match state {
        CrawlUrlState::New => "retried",
        CrawlUrlState::Listed
        | CrawlUrlState::Skipped
        | CrawlUrlState::Failed
        | CrawlUrlState::Gone
        | CrawlUrlState::Redirected => state.as_str(),
    }
}

/// Returns the contexts of the crawls whose plans can be read, and their URLs in turns.
fn in_turns(due: Vec<DueUrls>) -> (HashMap<CrawlId, Context>, Vec<CrawlUrl>) {
    let mut contexts = HashMap::new();
    let mut queues: Vec<VecDeque<CrawlUrl>> = Vec::new();
    for DueUrls { crawl_id, name, settings, urls } in due {
        // A newer version wrote a plan that cannot be read. Its crawl waits for an instance of that version.
        let Ok(mut plan) = serde_json::from_str::<Plan>(&settings) else { continue };
        if name == SINGLE_PAGES {
            // Its pages are its scope. The plan may lack one whose start was overwritten by another at the same time.
            plan.seeds.extend(urls.iter().map(|url| url.url.clone()));
        }
        // The plan of single pages only grows.
        let settings = (name != SINGLE_PAGES).then_some(settings);
        let scope = Scope::of(&plan);
        contexts.insert(crawl_id, Context { settings, plan, scope });
        queues.push(urls.into());
    }
    let mut urls = Vec::new();
    while queues.iter().any(|queue| !queue.is_empty()) {
        urls.extend(queues.iter_mut().filter_map(VecDeque::pop_front));
    }
    (contexts, urls)
}
