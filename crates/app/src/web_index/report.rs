//! Reports of crawls.

use crawler::Plan;
use docstore::{Crawl, CrawlCount, Docstore};
use model::{CrawlStatus, CrawlUrlState};

use super::crawls;
use crate::error::Result;

/// Kind of the counts of links that were not followed.
const LINK: &str = "link";

/// State of a crawl.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CrawlState {
    Running,
    /// Until pages are due again.
    Waiting,
    Completed,
    Stopped,
}

impl CrawlState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Completed => "completed",
            Self::Stopped => "stopped",
        }
    }
}

/// A crawl with its plan.
#[derive(Clone, Debug)]
pub struct CrawlView {
    pub crawl: Crawl,
    pub state: CrawlState,
    pub plan: Plan,
}

impl CrawlView {
    pub fn new(crawl: Crawl) -> Self {
        let plan = Plan::of(&crawl).unwrap_or_default();
        let state = match crawl.status {
            CrawlStatus::Stopped => CrawlState::Stopped,
            CrawlStatus::Running if crawl.queued > 0 => CrawlState::Running,
            CrawlStatus::Running if plan.every_seconds.is_some() => CrawlState::Waiting,
            CrawlStatus::Running => CrawlState::Completed,
        };
        Self { crawl, state, plan }
    }
}

/// Number of URLs or links with the same reason.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reason {
    pub name: String,
    pub count: i64,
    /// One of the URLs.
    pub example: Option<String>,
}

/// URLs of a crawl by outcome and reason, the most frequent reasons first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outcomes {
    pub redirected: i64,
    pub skipped: Vec<Reason>,
    pub failed: Vec<Reason>,
    pub gone: Vec<Reason>,
    pub links_not_followed: Vec<Reason>,
}

impl Outcomes {
    pub fn of(counts: &[CrawlCount]) -> Self {
        let reasons = |kind: &str| -> Vec<Reason> {
            let matching = counts.iter().filter(|count| count.kind == kind);
            let mut found: Vec<Reason> = matching.map(reason).collect();
            found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
            found
        };
        Self {
            redirected: total(&reasons(CrawlUrlState::Redirected.as_str())),
            skipped: reasons(CrawlUrlState::Skipped.as_str()),
            failed: reasons(CrawlUrlState::Failed.as_str()),
            gone: reasons(CrawlUrlState::Gone.as_str()),
            links_not_followed: reasons(LINK),
        }
    }
}

fn reason(count: &CrawlCount) -> Reason {
    let name = if count.reason.is_empty() { "unknown" } else { count.reason.as_str() };
    Reason { name: name.to_owned(), count: count.count, example: count.example.clone() }
}

/// Returns the sum of the numbers.
pub fn total(reasons: &[Reason]) -> i64 {
    reasons.iter().map(|reason| reason.count).sum()
}

/// Returns all crawls, oldest first.
pub async fn list(store: &Docstore) -> Result<Vec<CrawlView>> {
    Ok(store.list_crawls().await?.into_iter().map(CrawlView::new).collect())
}

/// Returns a crawl with its URLs by outcome.
///
/// # Errors
/// `CrawlNotFound`.
pub async fn show(store: &Docstore, name: &str) -> Result<(CrawlView, Outcomes)> {
    let crawl = crawls::find(store, name).await?;
    let outcomes = outcomes(store, &crawl).await?;
    Ok((CrawlView::new(crawl), outcomes))
}

/// Returns the URLs of a crawl by outcome.
pub async fn outcomes(store: &Docstore, crawl: &Crawl) -> Result<Outcomes> {
    Ok(Outcomes::of(&store.list_crawl_counts(crawl.crawl_id).await?))
}
