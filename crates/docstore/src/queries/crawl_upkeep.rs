use std::collections::BTreeSet;
use std::time::Duration;

use diesel::dsl::exists;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlId, CrawlStatus, CrawlUrlKind, CrawlUrlState, DocId, Timestamp};

use super::Conn;
use super::crawl_counts::Deltas;
use super::crawl_hosts::refresh_queue;
use super::crawl_locks::{lock_crawl, write_counters};
use super::crawl_targets::{CANONICAL, queue_waiting};
use super::crawl_urls::{known_urls, queue_again, wake_hosts};
use super::web_pages::REMOVED;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::error::Result;
use crate::rows::CrawlUrl;
use crate::schema::{crawl_queues as queues, crawl_urls as urls, crawls};
use crate::types::Bind;

pub async fn requeue_crawl(
    connection: &mut Conn,
    crawl_id: CrawlId,
    after: Option<DocId>,
    limit: i64,
    now: Timestamp,
) -> Result<(usize, Option<DocId>)> {
    let Some(mut crawl) = lock_crawl(connection, crawl_id).await? else { return Ok((0, None)) };
    let mut former = urls::table
        .filter(urls::crawl_id.eq(Bind(crawl_id)))
        .filter(urls::queued.eq(false))
        // Those that this round has settled without a visit are left alone, or a crawl that is full would never end.
        .filter(urls::fetched_at.lt(Bind(crawl.started_at)).or(
            urls::fetched_at.is_null().and(urls::changed_at.is_null().or(urls::changed_at.lt(Bind(crawl.started_at)))),
        ))
        .filter(urls::reason.is_null().or(urls::reason.ne(REMOVED)))
        .order(urls::url_id)
        .limit(limit)
        .select(CrawlUrl::as_select())
        .into_boxed();
    if let Some(after) = after {
        former = former.filter(urls::url_id.gt(Bind(after)));
    }
    let former: Vec<CrawlUrl> = former.load(connection).await?;
    let (mut wanted, mut deltas) = (BTreeSet::new(), Deltas::default());
    for url in &former {
        queue_again(connection, &mut crawl, url, &mut deltas).await?;
        wanted.insert(url.host.clone());
    }
    deltas.write(connection, crawl_id).await?;
    wake_hosts(connection, crawl_id, wanted).await?;
    write_counters(connection, &crawl, now).await?;
    let is_full = usize::try_from(limit).is_ok_and(|limit| former.len() >= limit);
    Ok((former.len(), former.last().filter(|_| is_full).map(|url| url.url_id)))
}

pub async fn refresh_crawled_page(connection: &mut Conn, url_id: DocId, now: Timestamp) -> Result<usize> {
    let crawl_ids: Vec<CrawlId> = urls::table
        .filter(urls::url_id.eq(Bind(url_id)))
        .order(urls::crawl_id)
        .select(urls::crawl_id)
        .load(connection)
        .await?;
    let mut queued = 0;
    for crawl_id in crawl_ids {
        let Some(mut crawl) = lock_crawl(connection, crawl_id).await? else { continue };
        // A stopped crawl would never visit the page, and its next start would go on with this visit alone.
        if crawl.status != CrawlStatus::Running {
            continue;
        }
        let Some(url) = known_urls(connection, crawl_id, vec![url_id]).await?.pop() else { continue };
        if !url.queued {
            let mut deltas = Deltas::default();
            queue_again(connection, &mut crawl, &url, &mut deltas).await?;
            deltas.write(connection, crawl_id).await?;
        }
        wake_hosts(connection, crawl_id, BTreeSet::from([url.host])).await?;
        write_counters(connection, &crawl, now).await?;
        queued += 1;
    }
    Ok(queued)
}

pub async fn settle_queued(
    connection: &mut Conn,
    crawl_id: CrawlId,
    host: Option<String>,
    outcome: (CrawlUrlState, String),
    next_fetch_at: Option<Timestamp>,
    limit: i64,
    now: Timestamp,
) -> Result<usize> {
    let Some(mut crawl) = lock_crawl(connection, crawl_id).await? else { return Ok(0) };
    let is_of_host = host.is_some();
    if !is_of_host && !crawl.is_full() {
        // Its limit was raised, or a page removed, since it was listed as full.
        return Ok(0);
    }
    let mut waiting = urls::table
        .filter(urls::crawl_id.eq(Bind(crawl_id)))
        .filter(urls::queued)
        .limit(limit)
        .select(CrawlUrl::as_select())
        .into_boxed();
    waiting = match host {
        // Every queued URL has a time. Those that the last transaction has settled have a later one, or none, and are not read again.
        Some(host) => {
            waiting.filter(urls::host.eq(host)).filter(urls::next_fetch_at.is_not_null()).order(urls::next_fetch_at)
        }
        // Sitemaps and further rounds still matter to a crawl that may list no more pages.
        None => {
            waiting.filter(urls::kind.eq(Bind(CrawlUrlKind::Page))).filter(urls::state.eq(Bind(CrawlUrlState::New)))
        }
    };
    let waiting: Vec<CrawlUrl> = waiting.load(connection).await?;
    let (settled, known): (Vec<CrawlUrl>, Vec<CrawlUrl>) =
        waiting.into_iter().partition(|url| url.state == CrawlUrlState::New);
    let (state, reason) = outcome;
    // Belongs to this round also if the clock was set back.
    let settled_at = now.max(crawl.started_at);
    let (mut deltas, mut changed) = (Deltas::default(), BTreeSet::new());
    for mut url in settled.iter().cloned() {
        deltas.add_url(&url, -1);
        (url.state, url.reason) = (state, Some(reason.clone()));
        deltas.add_url(&url, 1);
        changed.insert(url.host.clone());
    }
    for chunk in settled.chunks(MAX_VALUES_PER_STATEMENT) {
        let ids = chunk.iter().map(|url| url.url_id);
        diesel::update(urls::table.filter(urls::crawl_id.eq(Bind(crawl_id))).filter(is_one_of!(urls::url_id, ids)))
            .set((
                urls::state.eq(Bind(state)),
                urls::reason.eq(Some(reason.clone())),
                urls::queued.eq(false),
                urls::attempts.eq(0),
                urls::next_fetch_at.eq(Bind(next_fetch_at)),
                urls::changed_at.eq(Bind(Some(settled_at))),
            ))
            .execute(connection)
            .await?;
    }
    if is_of_host {
        // Those that named another one themselves would queue each other without end.
        let names_another = |url: &CrawlUrl| url.reason.as_deref() == Some(CANONICAL);
        for url in settled.iter().chain(&known) {
            if url.state != CrawlUrlState::Listed && !names_another(url) {
                queue_waiting(connection, &mut crawl, url, CrawlUrlState::Skipped).await?;
            }
        }
    }
    postpone(connection, crawl_id, &known, next_fetch_at).await?;
    changed.extend(known.iter().map(|url| url.host.clone()));
    let ended = settled.len() + known.len();
    crawl.queued -= i64::try_from(ended).unwrap_or(i64::MAX);
    deltas.write(connection, crawl_id).await?;
    write_counters(connection, &crawl, now).await?;
    for host in changed {
        refresh_queue(connection, crawl_id, &host).await?;
    }
    Ok(ended)
}

/// Ends the wait of the current round for URLs of known states, which they keep.
async fn postpone(
    connection: &mut Conn,
    crawl_id: CrawlId,
    known: &[CrawlUrl],
    next_fetch_at: Option<Timestamp>,
) -> Result<()> {
    for chunk in known.chunks(MAX_VALUES_PER_STATEMENT) {
        let ids = chunk.iter().map(|url| url.url_id);
        diesel::update(urls::table.filter(urls::crawl_id.eq(Bind(crawl_id))).filter(is_one_of!(urls::url_id, ids)))
            .set((urls::queued.eq(false), urls::attempts.eq(0), urls::next_fetch_at.eq(Bind(next_fetch_at))))
            .execute(connection)
            .await?;
    }
    Ok(())
}

pub async fn list_full_crawls(connection: &mut Conn) -> Result<Vec<CrawlId>> {
    Ok(crawls::table
        .filter(crawls::queued.gt(0))
        .filter(crawls::page_limit.is_not_null())
        .filter(crawls::pages.nullable().ge(crawls::page_limit))
        .select(crawls::crawl_id)
        .load(connection)
        .await?)
}

pub async fn reschedule_crawl(
    connection: &mut Conn,
    crawl_id: CrawlId,
    longest: Duration,
    now: Timestamp,
) -> Result<usize> {
    let beyond = now + longest;
    let late: Vec<String> = queues::table
        .filter(queues::crawl_id.eq(Bind(crawl_id)))
        // Other URLs of the host may be due.
        .filter(exists(
            urls::table
                .filter(urls::crawl_id.eq(queues::crawl_id))
                .filter(urls::host.eq(queues::host))
                .filter(urls::next_fetch_at.gt(Bind(beyond))),
        ))
        .select(queues::host)
        .load(connection)
        .await?;
    if late.is_empty() || lock_crawl(connection, crawl_id).await?.is_none() {
        return Ok(0);
    }
    let mut changed = 0;
    for host in late {
        changed += diesel::update(
            urls::table
                .filter(urls::crawl_id.eq(Bind(crawl_id)))
                .filter(urls::host.eq(host.clone()))
                .filter(urls::next_fetch_at.gt(Bind(beyond))),
        )
        .set(urls::next_fetch_at.eq(Bind(Some(now))))
        .execute(connection)
        .await?;
        refresh_queue(connection, crawl_id, &host).await?;
    }
    Ok(changed)
}
