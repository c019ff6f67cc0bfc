use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlId, CrawlStatus, CrawlUrlState, DocId, Timestamp};

use super::Conn;
use super::crawl_hosts::refresh_queue;
use super::crawl_locks::lock_crawl;
use crate::error::Result;
use crate::rows::{Crawl, CrawlUrl};
use crate::schema::{crawl_urls as urls, crawls};
use crate::types::Bind;

/// Lists the other crawls that list a page and will visit it again.
pub async fn list_claims(connection: &mut Conn, crawl_id: CrawlId, url_id: DocId) -> Result<Vec<CrawlId>> {
    Ok(urls::table
        .inner_join(crawls::table.on(crawls::crawl_id.eq(urls::crawl_id)))
        .filter(urls::url_id.eq(Bind(url_id)))
        .filter(urls::crawl_id.ne(Bind(crawl_id)))
        .filter(urls::state.eq(Bind(CrawlUrlState::Listed)))
        .filter(urls::next_fetch_at.is_not_null())
        .filter(crawls::status.eq(Bind(CrawlStatus::Running)))
        .select(urls::crawl_id)
        .load(connection)
        .await?)
}

/// Locks a crawl and others, in the order of their ids: two transactions that lock in different orders deadlock. Returns the former.
pub async fn lock_with_claims(connection: &mut Conn, crawl_id: CrawlId, claims: &[CrawlId]) -> Result<Option<Crawl>> {
    let mut ids = [claims, &[crawl_id]].concat();
    ids.sort_unstable();
    let mut own = None;
    for id in ids {
        let locked = lock_crawl(connection, id).await?;
        if id == crawl_id {
            own = locked;
        }
    }
    Ok(own)
}

/// Makes a page due in other crawls that list it, which are locked.
pub async fn visit_elsewhere(connection: &mut Conn, claims: &[CrawlId], url: &CrawlUrl, now: Timestamp) -> Result<()> {
    for crawl_id in claims {
        let later = urls::table
            .find((Bind(*crawl_id), Bind(url.url_id)))
            .filter(urls::state.eq(Bind(CrawlUrlState::Listed)))
            .filter(urls::next_fetch_at.gt(Bind(now)));
        diesel::update(later).set(urls::next_fetch_at.eq(Bind(Some(now)))).execute(connection).await?;
        refresh_queue(connection, *crawl_id, &url.host).await?;
    }
    Ok(())
}
