use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlUrlState, DocId};

use super::Conn;
use super::crawl_counts::Deltas;
use super::crawl_urls::{queue_again, wake_hosts};
use crate::error::Result;
use crate::rows::{Crawl, CrawlUrl};
use crate::schema::crawl_urls as urls;
use crate::types::Bind;

/// Reason of pages that name another one as canonical, which is listed instead.
pub const CANONICAL: &str = "canonical";

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
async fn queue_page(connection: &mut Conn, crawl: &mut Crawl, page: &CrawlUrl) -> Result<()> {
    let mut deltas = Deltas::default();
    queue_again(connection, crawl, page, &mut deltas).await?;
    deltas.write(connection, crawl.crawl_id).await?;
    wake_hosts(connection, crawl.crawl_id, BTreeSet::from([page.host.clone()])).await
}
