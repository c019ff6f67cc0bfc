use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlId, Timestamp};

use super::Conn;
use crate::error::Result;
use crate::rows::Crawl;
use crate::schema::crawls;
use crate::types::Bind;

/// Locks a crawl. Every transaction that changes its rows begins with this, so that counters and queues stay exact.
pub async fn lock_crawl(connection: &mut Conn, crawl_id: CrawlId) -> Result<Option<Crawl>> {
    Ok(lock_rows!(crawls::table.find(Bind(crawl_id)).select(Crawl::as_select())).first(connection).await.optional()?)
}

/// Writes the counters of a crawl that the transaction has locked, and its end if nothing is queued.
pub async fn write_counters(connection: &mut Conn, crawl: &Crawl, now: Timestamp) -> Result<()> {
    let finished_at = if crawl.queued > 0 { None } else { crawl.finished_at.or(Some(now)) };
    diesel::update(crawls::table.find(Bind(crawl.crawl_id)))
        .set((
            crawls::urls.eq(crawl.urls),
            crawls::queued.eq(crawl.queued),
            crawls::pages.eq(crawl.pages),
            crawls::finished_at.eq(Bind(finished_at)),
        ))
        .execute(connection)
        .await?;
    Ok(())
}
