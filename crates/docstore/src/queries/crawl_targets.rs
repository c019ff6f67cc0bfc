use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlUrlState, DocId};

use super::Conn;
use super::crawl_counts::Deltas;
use super::crawl_urls::{find_url, queue_again, wake_hosts};
use crate::crawls::in_turn;
use crate::error::Result;
use crate::rows::{Crawl, CrawlUrl};
use crate::schema::{crawl_queues as queues, crawl_urls as urls};
use crate::types::Bind;

/// Reason of pages that name another one as canonical, which is listed instead.
pub const CANONICAL: &str = "canonical";

/// Steps that are followed: more than the redirects of a crawl.
const MAX_STEPS: usize = 12;

/// End of the redirects and canonical URLs that lead on from a URL.
pub enum Target {
    /// A page that is listed.
    Listed(DocId),
    /// A page that waits for its visit.
    Pending(DocId),
    /// The URL itself, with the first page on the way that names another one as canonical.
    Itself(Option<Box<CrawlUrl>>),
    Nothing,
}

impl Target {
    /// Returns the page, if it is another one.
    pub fn page(&self) -> Option<DocId> {
        match self {
            Target::Listed(url_id) | Target::Pending(url_id) => Some(*url_id),
            Target::Itself(_) | Target::Nothing => None,
        }
    }
}

/// Follows what leads on from a URL, first to `next`.
pub async fn follow(connection: &mut Conn, url: &CrawlUrl, mut next: DocId) -> Result<Target> {
    let mut first_duplicate = None;
    for _ in 0..MAX_STEPS {
        if next == url.url_id {
            return Ok(Target::Itself(first_duplicate));
        }
        let Some(step) = find_url(connection, url.crawl_id, next).await? else { return Ok(Target::Nothing) };
        if step.state == CrawlUrlState::Listed {
            return Ok(Target::Listed(next));
        }
        if step.queued || step.state == CrawlUrlState::New {
            return Ok(Target::Pending(next));
        }
        let is_duplicate = step.state == CrawlUrlState::Skipped && step.reason.as_deref() == Some(CANONICAL);
        let leads_on = is_duplicate || step.state == CrawlUrlState::Redirected;
        let Some(target_id) = step.target_id.filter(|_| leads_on) else { return Ok(Target::Nothing) };
        next = target_id;
        if is_duplicate && first_duplicate.is_none() {
            first_duplicate = Some(Box::new(step));
        }
    }
    Ok(Target::Nothing)
}

/// Returns the pages in this state that wait for a URL, which they named as canonical, and for no visit.
macro_rules! waiting_for {
    ($url:expr, $state:expr) => {
        urls::table
            .filter(urls::crawl_id.eq(Bind($url.crawl_id)))
            .filter(urls::target_id.eq(Bind(Some($url.url_id))))
            .filter(urls::state.eq(Bind($state)))
            .filter(urls::reason.is_null().or(urls::reason.eq(CANONICAL)))
            .filter(urls::queued.eq(false))
    };
}

/// Has the pages that wait for a visited URL follow its outcome. `before` is the state before the visit.
pub async fn release_waiting(
    connection: &mut Conn,
    crawl: &mut Crawl,
    url: &CrawlUrl,
    before: CrawlUrlState,
) -> Result<()> {
    if url.state == CrawlUrlState::Listed {
        // Listed pages make room for it now.
        let is_new = before != CrawlUrlState::Listed;
        return if is_new { queue_waiting(connection, crawl, url, CrawlUrlState::Listed).await } else { Ok(()) };
    }
    // One that names another page leads those on that named it.
    if url.queued || url.reason.as_deref() == Some(CANONICAL) {
        return Ok(());
    }
    let target = match url.target_id.filter(|_| url.state == CrawlUrlState::Redirected) {
        Some(target_id) => follow(connection, url, target_id).await?,
        None => Target::Nothing,
    };
    if matches!(target, Target::Listed(_)) {
        queue_waiting(connection, crawl, url, CrawlUrlState::Listed).await?;
    }
    let Some(page) = target.page() else {
        return queue_waiting(connection, crawl, url, CrawlUrlState::Skipped).await;
    };
    // A visit of each of them would find out the same.
    for state in [CrawlUrlState::Skipped, CrawlUrlState::Listed] {
        let waiting = waiting_for!(url, state);
        diesel::update(waiting).set(urls::target_id.eq(Bind(Some(page)))).execute(connection).await?;
    }
    Ok(())
}

/// Queues the pages in this state that wait for a URL, at its place in the order of visits. There may be any number of them.
pub async fn queue_waiting(
    connection: &mut Conn,
    crawl: &mut Crawl,
    url: &CrawlUrl,
    state: CrawlUrlState,
) -> Result<()> {
    // SQLite would read all URLs of the crawl for their distinct hosts.
    let hosts: Vec<String> = queues::table
        .filter(queues::crawl_id.eq(Bind(url.crawl_id)))
        .filter(queues::host.eq_any(waiting_for!(url, state).select(urls::host)))
        .select(queues::host)
        .load(connection)
        .await?;
    if hosts.is_empty() {
        return Ok(());
    }
    let queued = diesel::update(waiting_for!(url, state))
        .set((urls::queued.eq(true), urls::attempts.eq(0), urls::next_fetch_at.eq(Bind(Some(in_turn(url.priority))))))
        .execute(connection)
        .await?;
    crawl.queued += i64::try_from(queued).unwrap_or(i64::MAX);
    wake_hosts(connection, crawl.crawl_id, hosts.into_iter().collect()).await
}

/// Queues another visit of a page that is not queued.
pub async fn queue_page(connection: &mut Conn, crawl: &mut Crawl, page: &CrawlUrl) -> Result<()> {
    let mut deltas = Deltas::default();
    queue_again(connection, crawl, page, &mut deltas).await?;
    deltas.write(connection, crawl.crawl_id).await?;
    wake_hosts(connection, crawl.crawl_id, BTreeSet::from([page.host.clone()])).await
}
