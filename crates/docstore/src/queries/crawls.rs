use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlId, CrawlStatus, CrawlUrlState, Timestamp};

use super::crawl_counts::Deltas;
use super::crawl_locks::{lock_crawl, write_counters};
use super::crawl_urls::add_urls;
use super::web_pages::remove_unless_crawled;
use super::{Conn, audit};
use crate::crawls::{CrawlLimits, FrontierTotals, NewCrawlUrl};
use crate::error::Result;
use crate::rows::{AuditEntry, Crawl, CrawlUrl};
use crate::schema::{crawl_hosts, crawl_urls, crawls};
use crate::types::Bind;

pub async fn start_crawl(
    connection: &mut Conn,
    crawl: Crawl,
    seeds: Vec<NewCrawlUrl>,
    limits: CrawlLimits,
    now: Timestamp,
    entry: Option<AuditEntry>,
) -> Result<Crawl> {
    insert_missing_rows!(connection, crawls::table, vec![crawl.clone()])?;
    let mut stored: Crawl =
        lock_rows!(crawls::table.filter(crawls::name.eq(crawl.name.clone())).select(Crawl::as_select()))
            .first(connection)
            .await?;
    let is_new = stored.crawl_id == crawl.crawl_id;
    // A full frontier has refused links.
    let has_more_room = crawl.url_limit > stored.url_limit && stored.urls >= stored.url_limit;
    let permits_more = !is_new && (stored.settings != crawl.settings || has_more_room);
    if permits_more {
        // Pages that have not changed may have links that the crawl accepts now.
        diesel::update(crawl_urls::table.filter(crawl_urls::crawl_id.eq(Bind(stored.crawl_id))))
            .set((crawl_urls::etag.eq(None::<String>), crawl_urls::last_modified.eq(None::<String>)))
            .execute(connection)
            .await?;
    }
    // URLs that a full crawl has settled without a visit have their turn.
    let lists_more = stored.is_full() && crawl.page_limit.is_none_or(|limit| limit > stored.pages);
    // An unfinished round goes on, unless what it has visited or settled has to be visited again.
    if !is_new && (stored.queued == 0 || permits_more || lists_more) {
        stored.started_at = now;
    }
    (stored.settings, stored.status) = (crawl.settings, CrawlStatus::Running);
    (stored.page_limit, stored.url_limit) = (crawl.page_limit, crawl.url_limit);
    diesel::update(crawls::table.find(Bind(stored.crawl_id)))
        .set((
            crawls::settings.eq(stored.settings.clone()),
            crawls::status.eq(Bind(stored.status)),
            crawls::started_at.eq(Bind(stored.started_at)),
            crawls::page_limit.eq(stored.page_limit),
            crawls::url_limit.eq(stored.url_limit),
        ))
        .execute(connection)
        .await?;
    add_urls(connection, &mut stored, seeds, limits, now).await?;
    write_counters(connection, &stored, now).await?;
    record_of(connection, entry, &stored).await?;
    Ok(stored)
}

/// Writes an audit entry about a crawl.
async fn record_of(connection: &mut Conn, entry: Option<AuditEntry>, crawl: &Crawl) -> Result<()> {
    let Some(entry) = entry else { return Ok(()) };
    audit::record(connection, AuditEntry { subject_id: Some(crawl.crawl_id.0), ..entry }).await
}

pub async fn set_crawl_status(
    connection: &mut Conn,
    name: String,
    status: CrawlStatus,
    entry: Option<AuditEntry>,
) -> Result<Option<Crawl>> {
    let changed =
        diesel::update(crawls::table.filter(crawls::name.eq(name.clone())).filter(crawls::status.ne(Bind(status))))
            .set(crawls::status.eq(Bind(status)))
            .execute(connection)
            .await?;
    let Some(crawl) = find_crawl(connection, name).await? else { return Ok(None) };
    if changed > 0 {
        record_of(connection, entry, &crawl).await?;
    }
    Ok(Some(crawl))
}

pub async fn find_crawl(connection: &mut Conn, name: String) -> Result<Option<Crawl>> {
    Ok(crawls::table.filter(crawls::name.eq(name)).select(Crawl::as_select()).first(connection).await.optional()?)
}

pub async fn list_crawls(connection: &mut Conn) -> Result<Vec<Crawl>> {
    Ok(crawls::table.order((crawls::created_at, crawls::name)).select(Crawl::as_select()).load(connection).await?)
}

pub async fn frontier_totals(connection: &mut Conn) -> Result<FrontierTotals> {
    let rows: Vec<(i64, i64, i64)> =
        crawls::table.select((crawls::urls, crawls::queued, crawls::pages)).load(connection).await?;
    let mut totals = FrontierTotals::default();
    for (urls, queued, pages) in rows {
        totals.urls += urls;
        totals.queued += queued;
        totals.pages += pages;
    }
    totals.hosts_in_back_off =
        crawl_hosts::table.filter(crawl_hosts::failures.gt(0)).count().get_result(connection).await?;
    Ok(totals)
}

pub async fn delete_crawl(
    connection: &mut Conn,
    crawl_id: CrawlId,
    with_pages: bool,
    limit: i64,
    now: Timestamp,
    entry: Option<AuditEntry>,
) -> Result<bool> {
    let Some(mut crawl) = lock_crawl(connection, crawl_id).await? else { return Ok(true) };
    let rows: Vec<CrawlUrl> = crawl_urls::table
        .filter(crawl_urls::crawl_id.eq(Bind(crawl_id)))
        .order(crawl_urls::url_id)
        .limit(limit)
        .select(CrawlUrl::as_select())
        .load(connection)
        .await?;
    if rows.is_empty() {
        diesel::delete(crawls::table.find(Bind(crawl_id))).execute(connection).await?;
        record_of(connection, entry, &crawl).await?;
        return Ok(true);
    }
    if with_pages {
        let listed = rows.iter().filter(|url| url.state == CrawlUrlState::Listed).map(|url| url.url_id);
        remove_unless_crawled(connection, crawl_id, listed.collect(), now).await?;
    }
    let ids = rows.iter().map(|url| url.url_id);
    diesel::delete(
        crawl_urls::table.filter(crawl_urls::crawl_id.eq(Bind(crawl_id))).filter(is_one_of!(crawl_urls::url_id, ids)),
    )
    .execute(connection)
    .await?;
    // The crawl may be started again before it is gone. It has more room then, so that it finds again what was removed.
    diesel::update(crawls::table.find(Bind(crawl_id))).set(crawls::url_limit.eq(0)).execute(connection).await?;
    let mut deltas = Deltas::default();
    for url in &rows {
        deltas.add_url(url, -1);
        crawl.urls -= 1;
        crawl.queued -= i64::from(url.queued);
        crawl.pages -= i64::from(url.is_listed_page());
    }
    deltas.write(connection, crawl_id).await?;
    write_counters(connection, &crawl, now).await?;
    Ok(false)
}
