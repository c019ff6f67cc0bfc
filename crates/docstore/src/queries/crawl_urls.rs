use std::collections::{BTreeMap, BTreeSet, HashMap};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlId, CrawlUrlKind, CrawlUrlState, DocId, Timestamp};

use super::Conn;
use super::crawl_counts::{Deltas, LINK};
use super::crawl_hosts::refresh_queue;
use super::crawl_locks::{lock_crawl, write_counters};
use super::web_pages::REMOVED;
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::crawls::{CrawlLimits, NewCrawlUrl, SkippedLinks, in_turn};
use crate::error::Result;
use crate::rows::{Crawl, CrawlHost, CrawlQueue, CrawlUrl};
use crate::schema::{crawl_hosts as hosts, crawl_queues as queues, crawl_urls as urls};
use crate::types::Bind;

/// Reason of links beyond the crawl's limit of URLs.
const FRONTIER_FULL: &str = "frontier_full";
/// Reason of links beyond the limit of URLs of one path.
const TOO_MANY_PARAMETERS: &str = "too_many_parameters";

pub async fn add_crawl_urls(
    connection: &mut Conn,
    crawl_id: CrawlId,
    links: Vec<NewCrawlUrl>,
    skipped: Vec<SkippedLinks>,
    limits: CrawlLimits,
    now: Timestamp,
) -> Result<bool> {
    let Some(mut crawl) = lock_crawl(connection, crawl_id).await? else { return Ok(false) };
    add_urls(connection, &mut crawl, links, limits, now).await?;
    write_counters(connection, &crawl, now).await?;
    let mut deltas = Deltas::default();
    deltas.add_skipped(&skipped);
    deltas.write(connection, crawl_id).await?;
    Ok(true)
}

/// Adds URLs to the frontier of a locked crawl. Known ones are visited again if they are seeds of a new round or, at the shortest
/// interval, have been modified since their last visit or are nearer to a seed than was known, except for those that the operator
/// removed. The caller writes the counters of the crawl.
pub async fn add_urls(
    connection: &mut Conn,
    crawl: &mut Crawl,
    links: Vec<NewCrawlUrl>,
    limits: CrawlLimits,
    now: Timestamp,
) -> Result<()> {
    let mut links: BTreeMap<DocId, NewCrawlUrl> = links.into_iter().rev().map(|link| (link.url_id, link)).collect();
    let known = known_urls(connection, crawl.crawl_id, links.keys().copied().collect()).await?;
    let (mut wanted, mut planned, mut deltas) = (BTreeSet::new(), BTreeSet::new(), Deltas::default());
    for mut url in known {
        let Some(link) = links.remove(&url.url_id) else { continue };
        if url.reason.as_deref() == Some(REMOVED) {
            continue;
        }
        let mut at = next_turn(crawl, &url, &link, limits, now);
        if is_nearer(&url, &link) {
            let is_read_again = limits.is_depth_bounded && url.fetched_at.is_some();
            move_nearer(connection, &mut url, link, is_read_again).await?;
            at = at.or(url.fetched_at.filter(|_| is_read_again).map(|last| last + limits.shortest_interval));
        }
        let Some(at) = at.filter(|_| !url.queued) else { continue };
        if at <= now {
            wanted.insert(url.host.clone());
            queue_again(connection, crawl, &url, &mut deltas).await?;
        } else if url.next_fetch_at.is_none_or(|next| next > at) {
            plan_visit(connection, &url, at).await?;
            planned.insert(url.host);
        }
    }
    for host in planned {
        refresh_queue(connection, crawl.crawl_id, &host).await?;
    }
    let by_path = count_by_path(connection, crawl.crawl_id, &links).await?;
    let mut rows = accept(crawl, links, by_path, limits, &mut deltas);
    rows.sort_unstable_by_key(|row| row.url_id);
    let added = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    crawl.urls += added;
    crawl.queued += added;
    for row in &rows {
        wanted.insert(row.host.clone());
        deltas.add_url(row, 1);
    }
    insert_rows!(connection, urls::table, rows)?;
    deltas.write(connection, crawl.crawl_id).await?;
    wake_hosts(connection, crawl.crawl_id, wanted).await
}

/// Returns true if a link leads to a known URL on a shorter way from a seed. The depth of a sitemap is that in other sitemaps, unless it
/// is a seed.
fn is_nearer(url: &CrawlUrl, link: &NewCrawlUrl) -> bool {
    let are_pages = (url.kind, link.kind) == (CrawlUrlKind::Page, CrawlUrlKind::Page);
    link.depth < url.depth && (link.is_seed || are_pages)
}

/// Writes the place that a link has to a known URL. One that is read again is requested unconditionally.
async fn move_nearer(connection: &mut Conn, url: &mut CrawlUrl, link: NewCrawlUrl, is_read_again: bool) -> Result<()> {
    (url.depth, url.chain) = (link.depth, link.chain);
    // A known sitemap has a lower one, whatever its name.
    url.priority = url.priority.min(link.priority);
    if link.is_seed {
        url.path_key = link.path_key;
    }
    if is_read_again {
        (url.etag, url.last_modified) = (None, None);
    }
    diesel::update(urls::table.find((Bind(url.crawl_id), Bind(url.url_id))))
        .set((
            urls::depth.eq(url.depth),
            urls::priority.eq(url.priority),
            urls::chain.eq(url.chain),
            urls::path_key.eq(url.path_key),
            urls::etag.eq(url.etag.clone()),
            urls::last_modified.eq(url.last_modified.clone()),
        ))
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the time of the visit that a link to a known URL calls for.
fn next_turn(
    crawl: &Crawl,
    url: &CrawlUrl,
    link: &NewCrawlUrl,
    limits: CrawlLimits,
    now: Timestamp,
) -> Option<Timestamp> {
    match (link.is_seed, link.modified_at, last_turn(url)) {
        (true, _, last) => last.is_none_or(|last| last < crawl.started_at).then_some(now),
        // Sites that take the time of the response for that of the change would have their pages read all the time.
        (false, Some(modified_at), Some(last)) => {
            (last < modified_at && modified_at <= now).then(|| last + limits.shortest_interval)
        }
        (false, Some(_), None) | (false, None, _) => None,
    }
}

/// Brings the next visit to a URL forward to a time to come. The caller refreshes the queue of its host.
async fn plan_visit(connection: &mut Conn, url: &CrawlUrl, at: Timestamp) -> Result<()> {
    diesel::update(urls::table.find((Bind(url.crawl_id), Bind(url.url_id))))
        .set(urls::next_fetch_at.eq(Bind(Some(at))))
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the time at which the URL was visited, or settled without a visit.
fn last_turn(url: &CrawlUrl) -> Option<Timestamp> {
    url.fetched_at.or(url.changed_at)
}

/// Loads the row of a URL.
pub async fn find_url(connection: &mut Conn, crawl_id: CrawlId, url_id: DocId) -> Result<Option<CrawlUrl>> {
    Ok(urls::table
        .find((Bind(crawl_id), Bind(url_id)))
        .select(CrawlUrl::as_select())
        .first(connection)
        .await
        .optional()?)
}

/// Loads the rows of these URLs that the crawl knows.
pub async fn known_urls(connection: &mut Conn, crawl_id: CrawlId, ids: Vec<DocId>) -> Result<Vec<CrawlUrl>> {
    let mut known = Vec::new();
    for chunk in ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let found: Vec<CrawlUrl> = urls::table
            .filter(urls::crawl_id.eq(Bind(crawl_id)))
            .filter(is_one_of!(urls::url_id, chunk.iter().copied()))
            .select(CrawlUrl::as_select())
            .load(connection)
            .await?;
        known.extend(found);
    }
    Ok(known)
}

/// Counts the known URLs of the paths that links with parameters have.
async fn count_by_path(
    connection: &mut Conn,
    crawl_id: CrawlId,
    links: &BTreeMap<DocId, NewCrawlUrl>,
) -> Result<HashMap<i64, i64>> {
    let keys: BTreeSet<i64> = links.values().filter_map(|link| link.path_key).collect();
    let keys: Vec<Option<i64>> = keys.into_iter().map(Some).collect();
    let mut counts = HashMap::new();
    for chunk in keys.chunks(MAX_VALUES_PER_STATEMENT) {
        let found: Vec<(Option<i64>, i64)> = urls::table
            .filter(urls::crawl_id.eq(Bind(crawl_id)))
            .filter(urls::path_key.eq_any(chunk.to_vec()))
            .group_by(urls::path_key)
            .select((urls::path_key, diesel::dsl::count_star()))
            .load(connection)
            .await?;
        counts.extend(found.into_iter().filter_map(|(key, count)| Some((key?, count))));
    }
    Ok(counts)
}

/// Returns the rows of links within the limits, and counts the others.
fn accept(
    crawl: &Crawl,
    links: BTreeMap<DocId, NewCrawlUrl>,
    mut by_path: HashMap<i64, i64>,
    limits: CrawlLimits,
    deltas: &mut Deltas,
) -> Vec<CrawlUrl> {
    let mut links: Vec<NewCrawlUrl> = links.into_values().collect();
    links.sort_by_key(|link| link.priority);
    let mut rows = Vec::new();
    for link in links {
        let total = crawl.urls + i64::try_from(rows.len()).unwrap_or(i64::MAX);
        if total >= crawl.url_limit && !link.is_seed {
            deltas.add(LINK, FRONTIER_FULL, 1, Some(&link.url));
            continue;
        }
        if let Some(key) = link.path_key {
            let count = by_path.entry(key).or_insert(0);
            if *count >= limits.queries_per_path {
                deltas.add(LINK, TOO_MANY_PARAMETERS, 1, Some(&link.url));
                continue;
            }
            *count += 1;
        }
        rows.push(link.into_row(crawl.crawl_id));
    }
    rows
}

/// Queues another visit of a URL that is not queued, in the current round. One that was settled without a visit is new again,
/// and may be settled so again. The caller wakes its host and writes the counts.
pub async fn queue_again(connection: &mut Conn, crawl: &mut Crawl, url: &CrawlUrl, deltas: &mut Deltas) -> Result<()> {
    let mut again = url.clone();
    if url.fetched_at.is_none() {
        (again.state, again.reason) = (CrawlUrlState::New, None);
        deltas.add_url(url, -1);
        deltas.add_url(&again, 1);
    }
    diesel::update(urls::table.find((Bind(crawl.crawl_id), Bind(url.url_id))))
        .set((
            urls::state.eq(Bind(again.state)),
            urls::reason.eq(again.reason),
            urls::queued.eq(true),
            urls::attempts.eq(0),
            urls::next_fetch_at.eq(Bind(Some(in_turn(url.priority)))),
        ))
        .execute(connection)
        .await?;
    crawl.queued += 1;
    Ok(())
}

/// Makes hosts of a crawl due.
pub async fn wake_hosts(connection: &mut Conn, crawl_id: CrawlId, wanted: BTreeSet<String>) -> Result<()> {
    let host_rows = wanted.iter().map(|host| CrawlHost {
        host: host.clone(),
        next_request_at: Timestamp::UNIX_EPOCH,
        response_millis: 0,
        failures: 0,
        claimed_at: Timestamp::UNIX_EPOCH,
        lease_owner: None,
        lease_expires_at: None,
    });
    insert_missing_rows!(connection, hosts::table, host_rows.collect::<Vec<_>>())?;
    let next_at = Some(Timestamp::UNIX_EPOCH);
    let queue_rows: Vec<CrawlQueue> =
        wanted.iter().map(|host| CrawlQueue { crawl_id, host: host.clone(), next_at }).collect();
    insert_missing_rows!(connection, queues::table, queue_rows)?;
    for host in wanted {
        diesel::update(queues::table.find((Bind(crawl_id), host)))
            .set(queues::next_at.eq(Bind(next_at)))
            .execute(connection)
            .await?;
    }
    Ok(())
}
