use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CaptureId, CrawlId, CrawlStatus, CrawlUrlState, DocId, Timestamp};

use super::Conn;
use super::captures::save_documents;
use super::crawl_claims::{list_claims, lock_with_claims, visit_elsewhere};
use super::crawl_counts::Deltas;
use super::crawl_hosts::refresh_queue;
use super::crawl_locks::write_counters;
use super::crawl_targets::{CANONICAL, Target, follow, queue_page, release_waiting};
use super::crawl_urls::{add_urls, find_url};
use super::web_pages::{remove, remove_unless_crawled};
use crate::crawls::{CrawlLimits, CrawlVisit, HostVisit, PageChange, Recorded, in_turn};
use crate::error::Result;
use crate::rows::{Crawl, CrawlHost, CrawlUrl};
use crate::schema::{captures, crawl_hosts, crawl_urls as urls, documents};
use crate::types::Bind;

const REDIRECT_LOOP: &str = "redirect_loop";
const SAME_CONTENT: &str = "same_content";
const LIMIT: &str = "limit";
/// Reasons that the site gives.
const NOINDEX: &str = "noindex";
const ROBOTS: &str = "robots";
const MOVED_OUTSIDE: &str = "moved_outside";

pub async fn list_valid_digests(connection: &mut Conn, url_ids: Vec<DocId>) -> Result<Vec<(DocId, String)>> {
    Ok(documents::table
        .inner_join(captures::table.on(documents::latest_capture_id.eq(captures::capture_id.nullable())))
        .filter(is_one_of!(documents::doc_id, url_ids))
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .select((documents::doc_id, captures::content_digest))
        .load(connection)
        .await?)
}

pub async fn record_crawl_visit(
    connection: &mut Conn,
    visit: CrawlVisit,
    owner: String,
    limits: CrawlLimits,
    now: Timestamp,
) -> Result<Recorded> {
    let CrawlVisit { settings, mut url, mut change, canonical, next_if_unchanged, mut links, skipped, host } = visit;
    let crawl_id = url.crawl_id;
    // The site may say that nobody is to list the page.
    let claims = match change {
        PageChange::Remove => list_claims(connection, crawl_id, url.url_id).await?,
        PageChange::Save(_) if canonical.is_some() => list_claims(connection, crawl_id, url.url_id).await?,
        PageChange::Save(_) | PageChange::Confirm | PageChange::Keep => Vec::new(),
    };
    let Some(mut crawl) = lock_with_claims(connection, crawl_id, &claims).await? else { return Ok(Recorded::Lost) };
    let held: Option<CrawlHost> = lock_rows!(
        crawl_hosts::table
            .find(url.host.clone())
            .filter(crawl_hosts::lease_owner.eq(owner))
            .select(CrawlHost::as_select())
    )
    .first(connection)
    .await
    .optional()?;
    let before = find_url(connection, crawl_id, url.url_id).await?;
    let (Some(held), Some(before)) = (held, before) else { return Ok(Recorded::Lost) };
    write_host(connection, held, host).await?;
    if settings.is_some_and(|settings| settings != crawl.settings) {
        return Ok(Recorded::Outdated);
    }
    let is_running = crawl.status == CrawlStatus::Running;
    if before.next_fetch_at.is_none() {
        // The operator removed the page during the visit, or the crawl gave it up.
        return Ok(Recorded::Done { state: before.state, reason: before.reason, is_running });
    }
    // Added before anything is decided for it: a canonical page that the frontier refuses would never be listed.
    let named = links.extract_if(.., |link| Some(link.url_id) == canonical).collect();
    add_urls(connection, &mut crawl, named, limits, now).await?;
    // The page to which this one leads may turn out to be none.
    let mut is_target_pending = false;
    if matches!(change, PageChange::Save(_)) {
        let target = match canonical {
            Some(canonical) => follow(connection, &url, canonical).await?,
            None => Target::Nothing,
        };
        is_target_pending = matches!(target, Target::Pending(_));
        // A listed page makes room only for one that is listed.
        let stays = before.state == CrawlUrlState::Listed && is_target_pending;
        let instead = target.page().filter(|_| !stays);
        if let Some(reason) = reason_to_skip(connection, &crawl, &before, &url, instead, limits).await? {
            if reason == SAME_CONTENT {
                links.clear();
            }
            url.target_id = instead;
            (url.state, url.reason, change) = (CrawlUrlState::Skipped, Some(reason.to_owned()), PageChange::Remove);
            (url.etag, url.last_modified, url.content_digest) = (None, None, None);
            if (before.state, &before.reason) == (url.state, &url.reason) {
                (url.changed_at, url.changes) = (before.changed_at, before.changes);
                (url.next_fetch_at, url.interval_seconds) = (next_if_unchanged.at, next_if_unchanged.interval_seconds);
            }
        } else if stays {
            // It is read again when the other one is listed, or at its next visit.
            url.target_id = target.page();
            (url.etag, url.last_modified) = (None, None);
        }
    }
    if url.state == CrawlUrlState::Redirected
        && let Some(target_id) = url.target_id
    {
        match follow(connection, &url, target_id).await? {
            // It named this URL, or one before it, which was not known to lead back.
            Target::Itself(Some(page)) => queue_page(connection, &mut crawl, &page).await?,
            Target::Itself(None) => {
                (url.state, url.reason, url.target_id) = (CrawlUrlState::Failed, Some(REDIRECT_LOOP.to_owned()), None);
            }
            Target::Pending(_) => is_target_pending = true,
            Target::Listed(_) | Target::Nothing => {}
        }
    }
    // A shorter way from a seed may have been found since the URL was loaded, from which its links were counted.
    let is_nearer = before.depth < url.depth;
    (url.depth, url.priority) = (before.depth, before.priority);
    (url.chain, url.path_key) = (before.chain, before.path_key);
    if is_nearer && limits.is_depth_bounded {
        read_again(&mut url, &change, limits, now);
    }
    let claims = (is_withdrawn(&url) && !is_target_pending).then_some(claims.as_slice());
    write_page(connection, &before, &url, change, claims, now).await?;
    count(&mut crawl, &before, &url);
    let mut deltas = Deltas::default();
    deltas.add_url(&before, -1);
    deltas.add_url(&url, 1);
    deltas.add_skipped(&skipped);
    let (state, reason) = (url.state, url.reason.clone());
    diesel::update(urls::table.find((Bind(crawl_id), Bind(url.url_id)))).set(url.clone()).execute(connection).await?;
    deltas.write(connection, crawl_id).await?;
    add_urls(connection, &mut crawl, links, limits, now).await?;
    release_waiting(connection, &mut crawl, &url, before.state).await?;
    refresh_queue(connection, crawl_id, &url.host).await?;
    write_counters(connection, &crawl, now).await?;
    Ok(Recorded::Done { state, reason, is_running })
}

/// Has a page requested unconditionally at its next visit, and at the shortest interval if it was read now.
fn read_again(url: &mut CrawlUrl, change: &PageChange, limits: CrawlLimits, now: Timestamp) {
    (url.etag, url.last_modified) = (None, None);
    let was_read = matches!(url.state, CrawlUrlState::Listed | CrawlUrlState::Skipped | CrawlUrlState::Redirected);
    if url.queued || !was_read || matches!(change, PageChange::Keep) {
        return;
    }
    if limits.shortest_interval.is_zero() {
        (url.queued, url.next_fetch_at) = (true, Some(in_turn(url.priority)));
    } else {
        let at = now + limits.shortest_interval;
        url.next_fetch_at = Some(url.next_fetch_at.map_or(at, |next| next.min(at)));
    }
}

async fn write_host(connection: &mut Conn, held: CrawlHost, visit: HostVisit) -> Result<()> {
    let visited = CrawlHost {
        next_request_at: visit.next_request_at,
        response_millis: visit.response_millis,
        failures: visit.failures,
        lease_expires_at: Some(visit.lease_expires_at),
        ..held
    };
    diesel::update(crawl_hosts::table.find(visited.host.clone())).set(visited).execute(connection).await?;
    Ok(())
}

/// Returns the reason that a page that was read is not listed; `instead` is the one that it leads to.
async fn reason_to_skip(
    connection: &mut Conn,
    crawl: &Crawl,
    before: &CrawlUrl,
    url: &CrawlUrl,
    instead: Option<DocId>,
    limits: CrawlLimits,
) -> Result<Option<&'static str>> {
    if instead.is_some() {
        return Ok(Some(CANONICAL));
    }
    if crawl.is_full() && before.state != CrawlUrlState::Listed {
        return Ok(Some(LIMIT));
    }
    let Some(digest) = &url.content_digest else { return Ok(None) };
    if before.state == CrawlUrlState::Listed {
        return Ok(None);
    }
    let same: i64 = urls::table
        .filter(urls::crawl_id.eq(Bind(crawl.crawl_id)))
        .filter(urls::content_digest.eq(digest.clone()))
        .filter(urls::url_id.ne(Bind(url.url_id)))
        .count()
        .get_result(connection)
        .await?;
    Ok((same >= limits.same_content).then_some(SAME_CONTENT))
}

/// Writes what becomes of a page in the index. `claims`: crawls that list a page that its site keeps out of the index.
async fn write_page(
    connection: &mut Conn,
    before: &CrawlUrl,
    url: &CrawlUrl,
    change: PageChange,
    claims: Option<&[CrawlId]>,
    now: Timestamp,
) -> Result<()> {
    match change {
        PageChange::Save(document) => {
            save_documents(connection, vec![*document], now).await?;
        }
        PageChange::Confirm => confirm(connection, url.url_id, now).await?,
        PageChange::Keep => {}
        PageChange::Remove => match claims {
            Some(claims) => withdraw(connection, before, url, claims, now).await?,
            None if before.state == CrawlUrlState::Listed => {
                remove_unless_crawled(connection, url.crawl_id, vec![url.url_id], now).await?;
            }
            None => {}
        },
    }
    Ok(())
}

/// Removes a page that its site keeps out of the index, unless crawls list it that will see for themselves. They do so at once when
/// the site begins to say so: their scopes may differ, and they would follow each other's visits.
async fn withdraw(
    connection: &mut Conn,
    before: &CrawlUrl,
    url: &CrawlUrl,
    claims: &[CrawlId],
    now: Timestamp,
) -> Result<()> {
    // Some may have ended, or begun another round, before they were locked.
    if list_claims(connection, url.crawl_id, url.url_id).await?.is_empty() {
        remove(connection, vec![url.url_id], now).await?;
    } else if (before.state, &before.reason) != (url.state, &url.reason) {
        visit_elsewhere(connection, claims, url, now).await?;
    }
    Ok(())
}

/// Returns true if the site itself keeps the page out of the index, whoever has listed it.
fn is_withdrawn(url: &CrawlUrl) -> bool {
    match url.state {
        CrawlUrlState::Gone | CrawlUrlState::Redirected => true,
        CrawlUrlState::Skipped => matches!(url.reason.as_deref(), Some(NOINDEX | ROBOTS | CANONICAL | MOVED_OUTSIDE)),
        CrawlUrlState::New | CrawlUrlState::Listed | CrawlUrlState::Failed => false,
    }
}

async fn confirm(connection: &mut Conn, doc_id: DocId, now: Timestamp) -> Result<()> {
    let capture_id: Option<Option<CaptureId>> = documents::table
        .find(Bind(doc_id))
        .filter(documents::organization_id.is_null())
        .select(documents::latest_capture_id)
        .first(connection)
        .await
        .optional()?;
    let Some(Some(capture_id)) = capture_id else { return Ok(()) };
    diesel::update(documents::table.find(Bind(doc_id)))
        .set((documents::last_seen_at.eq(Bind(now)), documents::last_crawled_at.eq(Bind(Some(now)))))
        .execute(connection)
        .await?;
    diesel::update(captures::table.find(Bind(capture_id)))
        .set(captures::captured_at.eq(Bind(now)))
        .execute(connection)
        .await?;
    Ok(())
}

fn count(crawl: &mut Crawl, before: &CrawlUrl, url: &CrawlUrl) {
    crawl.pages += i64::from(url.is_listed_page()) - i64::from(before.is_listed_page());
    crawl.queued += i64::from(url.queued) - i64::from(before.queued);
}
