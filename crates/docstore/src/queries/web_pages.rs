use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use model::{CrawlId, CrawlUrlState, DocId, IndexName, Timestamp};

use super::crawl_counts::Deltas;
use super::crawl_hosts::refresh_queue;
use super::crawl_locks::{lock_crawl, write_counters};
use super::outbox::enqueue_documents_of;
use super::{Conn, audit};
use crate::backend::MAX_VALUES_PER_STATEMENT;
use crate::crawls::WebPageEntry;
use crate::error::Result;
use crate::rows::{AuditEntry, CrawlUrl};
use crate::schema::{crawl_urls, documents};
use crate::types::Bind;

diesel::define_sql_function! {
    /// First characters of a text. `LIKE` ignores the case on SQLite only.
    fn substr(text: diesel::sql_types::Text, start: diesel::sql_types::Integer, length: diesel::sql_types::Integer) -> diesel::sql_types::Text;
}

/// Reason of pages that the operator removed.
pub const REMOVED: &str = "removed_by_operator";

pub async fn list_web_pages(
    connection: &mut Conn,
    prefix: Option<String>,
    after: Option<DocId>,
    limit: i64,
) -> Result<Vec<WebPageEntry>> {
    let mut query = documents::table
        .filter(documents::organization_id.is_null())
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .order(documents::doc_id)
        .limit(limit)
        .select((
            documents::doc_id,
            documents::canonical_url,
            documents::title,
            documents::first_seen_at,
            documents::last_crawled_at,
        ))
        .into_boxed();
    if let Some(after) = after {
        query = query.filter(documents::doc_id.gt(Bind(after)));
    }
    if let Some(prefix) = prefix {
        let length = i32::try_from(prefix.chars().count()).unwrap_or(i32::MAX);
        query = query.filter(substr(documents::canonical_url, 1, length).eq(prefix));
    }
    let rows: Vec<PageRow> = query.load(connection).await?;
    let entry = |(doc_id, url, title, first_seen_at, last_crawled_at)| WebPageEntry {
        doc_id,
        url,
        title,
        first_seen_at,
        last_crawled_at,
    };
    Ok(rows.into_iter().map(entry).collect())
}

/// Columns of a [`WebPageEntry`].
type PageRow = (DocId, String, Option<String>, Timestamp, Option<Timestamp>);

pub async fn has_web_pages(connection: &mut Conn) -> Result<bool> {
    let listed = documents::table
        .filter(documents::organization_id.is_null())
        .filter(documents::listed)
        .filter(documents::removed_at.is_null());
    Ok(diesel::select(diesel::dsl::exists(listed)).get_result(connection).await?)
}

pub async fn count_web_pages(connection: &mut Conn) -> Result<i64> {
    Ok(documents::table
        .filter(documents::organization_id.is_null())
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .count()
        .get_result(connection)
        .await?)
}

pub async fn find_web_page(connection: &mut Conn, doc_id: DocId) -> Result<bool> {
    let found: i64 = documents::table
        .filter(documents::doc_id.eq(Bind(doc_id)))
        .filter(documents::organization_id.is_null())
        .filter(documents::listed)
        .filter(documents::removed_at.is_null())
        .count()
        .get_result(connection)
        .await?;
    Ok(found > 0)
}

/// Removes pages from the shared web index that no crawl but this one lists.
pub async fn remove_unless_crawled(
    connection: &mut Conn,
    crawl_id: CrawlId,
    doc_ids: Vec<DocId>,
    now: Timestamp,
) -> Result<()> {
    for chunk in doc_ids.chunks(MAX_VALUES_PER_STATEMENT) {
        let elsewhere: Vec<DocId> = crawl_urls::table
            .filter(is_one_of!(crawl_urls::url_id, chunk.iter().copied()))
            .filter(crawl_urls::crawl_id.ne(Bind(crawl_id)))
            .filter(crawl_urls::state.eq(Bind(CrawlUrlState::Listed)))
            .select(crawl_urls::url_id)
            .load(connection)
            .await?;
        let gone = chunk.iter().copied().filter(|doc_id| !elsewhere.contains(doc_id)).collect();
        remove(connection, gone, now).await?;
    }
    Ok(())
}

/// Hides pages from all reads and enqueues them for the index. Returns their number.
pub async fn remove(connection: &mut Conn, doc_ids: Vec<DocId>, now: Timestamp) -> Result<usize> {
    let listed: Vec<DocId> = lock_rows!(
        documents::table
            .filter(is_one_of!(documents::doc_id, doc_ids))
            .filter(documents::organization_id.is_null())
            .filter(documents::listed)
            .filter(documents::removed_at.is_null())
            .order(documents::doc_id)
            .select(documents::doc_id)
    )
    .load(connection)
    .await?;
    if listed.is_empty() {
        return Ok(0);
    }
    diesel::update(documents::table.filter(is_one_of!(documents::doc_id, listed.iter().copied())))
        .set(documents::removed_at.eq(Bind(Some(now))))
        .execute(connection)
        .await?;
    let count = listed.len();
    enqueue_documents_of(connection, IndexName::Web, None, listed, now).await?;
    Ok(count)
}

pub async fn remove_web_pages(
    connection: &mut Conn,
    doc_ids: Vec<DocId>,
    now: Timestamp,
    entry: Option<AuditEntry>,
) -> Result<usize> {
    let ids = doc_ids.iter().copied();
    let mut crawl_ids: Vec<CrawlId> = crawl_urls::table
        .filter(is_one_of!(crawl_urls::url_id, ids))
        .select(crawl_urls::crawl_id)
        .distinct()
        .load(connection)
        .await?;
    crawl_ids.sort_unstable();
    for crawl_id in crawl_ids {
        exclude(connection, crawl_id, &doc_ids, now).await?;
    }
    let removed = remove(connection, doc_ids, now).await?;
    if let Some(entry) = entry.filter(|_| removed > 0) {
        audit::record(connection, entry).await?;
    }
    Ok(removed)
}

/// Ends the visits of a crawl to pages that the operator removed.
async fn exclude(connection: &mut Conn, crawl_id: CrawlId, doc_ids: &[DocId], now: Timestamp) -> Result<()> {
    let Some(mut crawl) = lock_crawl(connection, crawl_id).await? else { return Ok(()) };
    let rows: Vec<CrawlUrl> = crawl_urls::table
        .filter(crawl_urls::crawl_id.eq(Bind(crawl_id)))
        .filter(is_one_of!(crawl_urls::url_id, doc_ids.iter().copied()))
        .select(CrawlUrl::as_select())
        .load(connection)
        .await?;
    let mut deltas = Deltas::default();
    for mut url in rows {
        deltas.add_url(&url, -1);
        crawl.queued -= i64::from(url.queued);
        crawl.pages -= i64::from(url.is_listed_page());
        (url.state, url.reason) = (CrawlUrlState::Skipped, Some(REMOVED.to_owned()));
        (url.queued, url.next_fetch_at, url.content_digest) = (false, None, None);
        deltas.add_url(&url, 1);
        let host = url.host.clone();
        diesel::update(crawl_urls::table.find((Bind(crawl_id), Bind(url.url_id)))).set(url).execute(connection).await?;
        refresh_queue(connection, crawl_id, &host).await?;
    }
    deltas.write(connection, crawl_id).await?;
    write_counters(connection, &crawl, now).await
}
