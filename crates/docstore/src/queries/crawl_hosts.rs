use std::time::Duration;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlId, CrawlStatus, Timestamp};

use super::Conn;
use super::crawl_locks::lock_crawl;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::crawls::{DueUrls, in_turn};
use crate::error::Result;
use crate::rows::{CrawlHost, CrawlUrl};
use crate::schema::{crawl_hosts as hosts, crawl_queues as queues, crawl_urls as urls, crawls};
use crate::types::Bind;

/// Maximum time that a lease or a pause can last. A later end was written before the clock was set back.
const LONGEST: Duration = Duration::from_hours(25);

macro_rules! is_free {
    ($now:expr) => {
        hosts::lease_expires_at
            .is_null()
            .or(hosts::lease_expires_at.le(Bind($now)))
            .or(hosts::lease_expires_at.gt(Bind($now + LONGEST)))
    };
}

macro_rules! has_rested {
    ($now:expr) => {
        hosts::next_request_at.le(Bind($now)).or(hosts::next_request_at.gt(Bind($now + LONGEST)))
    };
}

pub async fn list_due_crawl_hosts(
    connection: &mut Conn,
    only: Option<CrawlId>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<String>> {
    let mut due = queues::table
        .inner_join(crawls::table.on(crawls::crawl_id.eq(queues::crawl_id)))
        .inner_join(hosts::table.on(hosts::host.eq(queues::host)))
        .filter(crawls::status.eq(Bind(CrawlStatus::Running)))
        .filter(queues::next_at.le(Bind(now)))
        .filter(has_rested!(now))
        .filter(is_free!(now))
        .order((hosts::claimed_at, hosts::host))
        .limit(limit)
        .select(hosts::host)
        .into_boxed();
    if let Some(crawl_id) = only {
        due = due.filter(queues::crawl_id.eq(Bind(crawl_id)));
    }
    Ok(due.load(connection).await?)
}

pub async fn claim_crawl_host(
    connection: &mut Conn,
    host: String,
    owner: String,
    now: Timestamp,
    lease_expires_at: Timestamp,
) -> Result<Option<CrawlHost>> {
    // Another instance may have visited the host since it was listed.
    let taken = diesel::update(hosts::table.find(host.clone()).filter(has_rested!(now)).filter(is_free!(now)))
        .set((
            hosts::claimed_at.eq(Bind(now)),
            hosts::lease_owner.eq(Some(owner)),
            hosts::lease_expires_at.eq(Bind(Some(lease_expires_at))),
        ))
        .execute(connection)
        .await?;
    if taken == 0 {
        return Ok(None);
    }
    Ok(Some(hosts::table.find(host).select(CrawlHost::as_select()).first(connection).await?))
}

pub async fn next_crawl_urls(
    connection: &mut Conn,
    host: String,
    only: Option<CrawlId>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<DueUrls>> {
    let mut due = queues::table
        .inner_join(crawls::table.on(crawls::crawl_id.eq(queues::crawl_id)))
        .filter(crawls::status.eq(Bind(CrawlStatus::Running)))
        .filter(queues::host.eq(host.clone()))
        .filter(queues::next_at.le(Bind(now)))
        .order(queues::crawl_id)
        .select((queues::crawl_id, crawls::name, crawls::settings))
        .into_boxed();
    if let Some(crawl_id) = only {
        due = due.filter(queues::crawl_id.eq(Bind(crawl_id)));
    }
    let found: Vec<(CrawlId, String, String)> = due.load(connection).await?;
    let mut all = Vec::new();
    for (crawl_id, name, settings) in found {
        let urls = due_urls(connection, crawl_id, &host, now, limit).await?;
        if urls.is_empty() {
            continue;
        }
        all.push(DueUrls { crawl_id, name, settings, urls });
    }
    Ok(all)
}

/// Lists the first `limit` due URLs of a host. Those in turn and those with a time of their own alternate, so that neither wait for the
/// end of the others: a full frontier may last for days, and so may the revisits of a large site.
async fn due_urls(
    connection: &mut Conn,
    crawl_id: CrawlId,
    host: &str,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<CrawlUrl>> {
    let last_turn = in_turn(i32::MAX);
    let urls_of_host = || {
        urls::table
            .filter(urls::crawl_id.eq(Bind(crawl_id)))
            .filter(urls::host.eq(host.to_owned()))
            .order(urls::next_fetch_at)
            .limit(limit)
            .select(CrawlUrl::as_select())
    };
    let queued: Vec<CrawlUrl> = urls_of_host().filter(urls::next_fetch_at.le(Bind(last_turn))).load(connection).await?;
    let planned: Vec<CrawlUrl> = urls_of_host()
        .filter(urls::next_fetch_at.gt(Bind(last_turn)))
        .filter(urls::next_fetch_at.le(Bind(now)))
        .load(connection)
        .await?;
    let (mut queued, mut planned) = (queued.into_iter(), planned.into_iter());
    let pairs = std::iter::from_fn(|| {
        let pair = [planned.next(), queued.next()];
        pair.iter().any(Option::is_some).then_some(pair)
    });
    Ok(pairs.flatten().flatten().take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
}

pub async fn extend_crawl_leases(
    connection: &mut Conn,
    owner: String,
    visited: Vec<String>,
    lease_expires_at: Timestamp,
) -> Result<usize> {
    let mut extended = 0;
    for chunk in visited.chunks(MAX_VALUES_PER_STATEMENT) {
        let held = hosts::table.filter(hosts::host.eq_any(chunk.to_vec())).filter(hosts::lease_owner.eq(owner.clone()));
        extended += diesel::update(held)
            .set(hosts::lease_expires_at.eq(Bind(Some(lease_expires_at))))
            .execute(connection)
            .await?;
    }
    Ok(extended)
}

pub async fn release_crawl_host(
    connection: &mut Conn,
    host: String,
    owner: String,
    rest_until: Option<Timestamp>,
) -> Result<()> {
    let held = hosts::table.find(host).filter(hosts::lease_owner.eq(owner));
    diesel::update(held)
        .set((
            hosts::lease_owner.eq(None::<String>),
            hosts::lease_expires_at.eq(Bind(None::<Timestamp>)),
            rest_until.map(|at| hosts::next_request_at.eq(Bind(at))),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

pub async fn release_crawl_owner(connection: &mut Conn, owner: String) -> Result<usize> {
    Ok(diesel::update(hosts::table.filter(hosts::lease_owner.eq(owner)))
        .set((hosts::lease_owner.eq(None::<String>), hosts::lease_expires_at.eq(Bind(None::<Timestamp>))))
        .execute(connection)
        .await?)
}

pub async fn list_crawl_owners(connection: &mut Conn) -> Result<Vec<String>> {
    let owners: Vec<Option<String>> = hosts::table
        .filter(hosts::lease_owner.is_not_null())
        .select(hosts::lease_owner)
        .distinct()
        .load(connection)
        .await?;
    Ok(owners.into_iter().flatten().collect())
}

pub async fn refresh_crawl_queues(connection: &mut Conn, host: String) -> Result<()> {
    let crawl_ids: Vec<CrawlId> = queues::table
        .filter(queues::host.eq(host.clone()))
        .order(queues::crawl_id)
        .select(queues::crawl_id)
        .load(connection)
        .await?;
    for crawl_id in crawl_ids {
        if lock_crawl(connection, crawl_id).await?.is_some() {
            refresh_queue(connection, crawl_id, &host).await?;
        }
    }
    Ok(())
}

/// Sets the queue of a host to its earliest URL. The transaction holds the lock of the crawl, without which a URL that is
/// being added would be overlooked.
pub async fn refresh_queue(connection: &mut Conn, crawl_id: CrawlId, host: &str) -> Result<()> {
    let earliest: Option<Option<Timestamp>> = urls::table
        .filter(urls::crawl_id.eq(Bind(crawl_id)))
        .filter(urls::host.eq(host.to_owned()))
        .filter(urls::next_fetch_at.is_not_null())
        .order(urls::next_fetch_at)
        .select(urls::next_fetch_at)
        .first(connection)
        .await
        .optional()?;
    diesel::update(queues::table.find((Bind(crawl_id), host.to_owned())))
        .set(queues::next_at.eq(Bind(earliest.flatten())))
        .execute(connection)
        .await?;
    Ok(())
}
