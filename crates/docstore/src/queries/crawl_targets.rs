use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlUrlState, DocId};

use super::Conn;
use super::crawl_counts::Deltas;
use super::crawl_urls::{find_url, queue_again, wake_hosts};
use crate::error::Result;
use crate::rows::{Crawl, CrawlUrl};
use crate::schema::crawl_urls as urls;
use crate::types::Bind;

/// Reason of pages that name another one as canonical, which is listed instead.
pub const CANONICAL: &str = "canonical";

/// Steps that are followed: more than the redirects of a crawl.
const MAX_STEPS: usize = 12;

/// End of the redirects and canonical URLs that lead on from a URL.
pub enum Target {
    /// A page that is listed, or waits for its visit.
    Page(DocId),
    /// The URL itself, with the first page on the way that names another one as canonical.
    Itself(Option<Box<CrawlUrl>>),
    Nothing,
}

impl Target {
    /// Returns the page, if it is another one.
    pub fn page(&self) -> Option<DocId> {
        match self {
            Target::Page(url_id) => Some(*url_id),
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
        if step.queued || matches!(step.state, CrawlUrlState::New | CrawlUrlState::Listed) {
            return Ok(Target::Page(next));
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

/// Queues a page that named this URL as canonical, since it is not listed.
pub async fn queue_duplicate(connection: &mut Conn, crawl: &mut Crawl, url_id: DocId) -> Result<()> {
    let duplicate: Option<CrawlUrl> = urls::table
        .filter(urls::crawl_id.eq(Bind(crawl.crawl_id)))
        .filter(urls::target_id.eq(Bind(Some(url_id))))
        .filter(urls::state.eq(Bind(CrawlUrlState::Skipped)))
        .filter(urls::reason.eq(CANONICAL))
        .filter(urls::queued.eq(false))
        .select(CrawlUrl::as_select())
        .first(connection)
        .await
        .optional()?;
    match duplicate {
        Some(page) => queue_page(connection, crawl, &page).await,
        None => Ok(()),
    }
}

/// Queues another visit of a page that is not queued.
pub async fn queue_page(connection: &mut Conn, crawl: &mut Crawl, page: &CrawlUrl) -> Result<()> {
    let mut deltas = Deltas::default();
    queue_again(connection, crawl, page, &mut deltas).await?;
    deltas.write(connection, crawl.crawl_id).await?;
    wake_hosts(connection, crawl.crawl_id, BTreeSet::from([page.host.clone()])).await
}
